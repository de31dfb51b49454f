/*
 * sequence.h - makes a random sequence of OpenCL calls on programs from a seed, and writes a transcript of what they
 * return.
 *
 * The calls of a sequence depend only on its seed, its number and what earlier calls returned. So if two runs differ,
 * the first difference is in what a call returned, and the transcript has a line for each call.
 */
#pragma once

#include <CL/cl.h>

#include <functional>
#include <memory>

#include "layer/texts.h"
#include "layer/transcript.h"

namespace layer
{

struct Context {
    cl_context handle;
    std::string name;
    std::vector<cl_device_id> devices;
    int *ends; /* how often the context was destroyed; NULL: it outlives the sequence */
};

/* What all sequences of a process share. */
struct Setup {
    std::vector<cl_device_id> devices;
    std::vector<std::vector<unsigned char>> modules; /* modules of SPIR-V; empty if there is no translator */
    std::vector<Context> contexts; /* shared: in each, PoCL's first program takes a tenth of a second */
    bool has_files = false;        /* included files change after builds; see sequence_files.cpp */
};

struct Program {
    cl_program handle;
    std::string name;
    size_t context;
    cl_uint references; /* how many references the sequence holds; 0: it no longer uses the program */
    bool is_intermediate;
};

struct Kernel {
    cl_kernel handle;
    std::string name;
    size_t context;
    cl_uint references;
};

/* Records the calls to a build's callback. */
struct Notice;

/* A list of devices as it is passed to a call. */
struct DeviceList {
    std::vector<cl_device_id> devices;
    cl_uint count;
    bool is_null;

    const cl_device_id *pointer() const { return is_null ? nullptr : devices.data(); }
};

/* One parameter of a query, and how the transcript shows its value. */
struct Param {
    enum Shape { number, size, sizes, handle, handles, text, bytes };
    cl_uint id;
    const char *name;
    Shape shape;
};

class Sequence
{
public:
    Sequence(const Setup &setup, Transcript *out, Random random) : setup_(setup), out_(*out), random_(random) {}
    /* Runs all steps. Some sequences release nothing at their end. */
    void run();

private:
    using Getter = std::function<cl_int(cl_uint, size_t, void *, size_t *)>;
    struct Step {
        unsigned weight;
        void (Sequence::*take)();
    };
    static const std::vector<Step> &steps();
    static const std::vector<Step> &steps_with_files();
    void take_step();
    /* Return a random object. Return NULL if there is none, and in percent_null of 100 cases; some steps pass NULL to a
     * call. */
    Program *any_program(unsigned percent_null = 3);
    Kernel *any_kernel(unsigned percent_null = 3);
    void log(const std::string &text) { out_.line("  " + text); }
    std::string list_of(const std::vector<cl_device_id> &devices) const;
    std::string program_name(const Program *program) const { return program != nullptr ? program->name : "NULL"; }

    /* sequence.cpp: objects */
    void make_context();
    void create_from_source();
    void create_wrongly();
    void create_from_il();
    void create_from_binary();
    void copy_from_binary(const Program *origin);
    void create_from_built_in_kernels();
    void create_kernel();
    void create_kernel_of(const Program *program, const std::string &name);
    void create_all_kernels();
    void clone_kernel();
    void retain_or_release();
    void release_everything();
    Program *add_program(cl_program handle, size_t context);
    Program *create(const Text &text, size_t context);
    void add_kernel(cl_kernel handle, size_t context);
    cl_platform_id platform() const;

    /* sequence_builds.cpp */
    void build();
    void compile();
    void link();
    void compile_and_link();
    void build_well();
    void link_well();
    void specialize();
    void unload();
    void edit();
    DeviceList device_list(size_t context, bool is_linked);
    std::string shown(const DeviceList &list) const;
    void compile_one(Program *program, const std::vector<Program *> &headers);
    Program *link_these(size_t context, const std::vector<Program *> &inputs);
    void await(Notice *notice, cl_int error, bool has_program = true);

    /* sequence_files.cpp */
    void reset_files();
    static void leave_files();
    void build_with_files();
    void change_files();
    void use_binary(const Program *origin);
    void use_any_binary();

    /* sequence_queries.cpp */
    void query_program();
    void query_build();
    void query_kernel();
    void query_arguments();
    void query_work_group();
    void query_everything();
    void program_of_kernel();
    void query_binaries(Program *program);
    void launch();
    void read_result(Context *context, cl_command_queue queue, Kernel *kernel);
    void query(const std::string &what, const Param &param, const Getter &getter);
    void query_in_full(const std::string &what, const Param &param, const Getter &getter);
    std::string value_of(const Param &param, const std::vector<unsigned char> &bytes) const;
    void program_param(Program *program, const Param &param);
    void build_param(Program *program, cl_device_id device, const Param &param);
    void kernel_param(Kernel *kernel, const Param &param);
    void argument_param(Kernel *kernel, cl_uint index, const Param &param);
    void work_group_param(Kernel *kernel, cl_device_id device, const Param &param);
    cl_device_id device_of(size_t context);

    const Setup &setup_;
    Transcript &out_;
    Random random_;
    std::vector<Context> contexts_;
    std::vector<std::unique_ptr<Program>> programs_;
    std::vector<std::unique_ptr<Kernel>> kernels_;
    size_t made_programs_ = 0;
    size_t made_kernels_ = 0;
    bool in_full_ = false; /* queries ask for the size and then for the value, as applications do */
};

} // namespace layer
