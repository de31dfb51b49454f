/*
 * startup_setup.h - creates the objects that each OpenCL measuring process begins with, on the only device that it
 * sees.
 */
#pragma once

#include "bench/startup_programs.h"
#include "support/not_copied.h"

#include <ingot/persist.h>

namespace startup
{

bool is_cpu(cl_device_id device);

/* The native objects. The destructor releases them. */
struct NativeSetup : NotCopied {
    NativeSetup();
    ~NativeSetup();

    cl_device_id device = nullptr;
    cl_context native = nullptr;
    cl_command_queue queue = nullptr;
};

/* The native objects, Ingot's context over them, and the store, which remembers what earlier processes learned about
 * included files. */
struct Setup : NativeSetup {
    explicit Setup(const std::string &store_path);
    ~Setup();

    ingot_context_t context = nullptr;
    ingot_storage_t store = nullptr;
    bool launches = false;
};

ingot_program_desc_t describe(const Setup &setup, const ProgramFile &file, uint32_t flags = 0);

/* Gets a program from the store, not from memory. */
ingot_program_t load_from_store(const Setup &setup, const ProgramFile &file);

/* Returns the driver's binary for the only device. load_binary loads it again with the driver alone. */
std::vector<uint8_t> binary_of(cl_program program);
cl_program load_binary(const NativeSetup &setup, const std::vector<uint8_t> &binary, const std::string &options);

/* Builds a program from its source with the driver alone. */
cl_program build_source(const NativeSetup &setup, const std::string &source, const std::string &options);

/* Returns the path to which write_binaries writes the binary of a program of the store. read_binaries reads them
 * all. */
std::string binary_path(const std::string &store, size_t number);
std::vector<std::vector<uint8_t>> read_binaries(size_t count, const std::string &store);

} // namespace startup
