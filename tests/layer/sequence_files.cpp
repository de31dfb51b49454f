/*
 * sequence_files.cpp - implements the sequences in which included files change after a build (--files 1): they are
 * edited, broken, removed or moved, and the process changes its directory. Queries must still be about the program that
 * was built.
 */
#include "layer/sequence.h"

#include <fstream>

namespace layer
{

namespace
{

namespace fs = std::filesystem;

const fs::path &root()
{
    static const fs::path path = fs::current_path();
    return path;
}

/* Returns a header of the text below: it decides about the kernel's name, attributes, arguments and result. */
std::string random_header(Random *random)
{
    static const std::vector<std::string> headers = {
        "#define NAME add\n#define SIZE 4\n#define FIRST out\n#define T 100\n",
        "#define NAME twice\n#define SIZE 4\n#define FIRST result\n#define T 200\n",
        "#define NAME add\n#define SIZE 2\n#define FIRST out\n#define T 300\n",
        "#define NAME included\n#define SIZE 8\n#define FIRST where\n#define T 100\n#warning a message\n",
        "#error broken\n",
    };
    return random->of(headers);
}

Text text_of_header(Random *random)
{
    static const char name_of_file[] = "t.h";
    const std::string version = number(random->below(2));
    return {"with header " + version,
            std::string("#include \"") + name_of_file +
                "\"\nkernel __attribute__((reqd_work_group_size(SIZE, 1, 1)))\n"
                "void NAME(global int *FIRST, int n) { FIRST[get_global_id(0)] = n + T + " +
                version + "; }\n",
            {"add"}};
}

Options options_for_header(Random *random)
{
    static const std::vector<std::string> all = {"-I inc_a", "-Iinc_b", "-I inc_b  -I inc_a",
                                                 "-I inc_a -cl-denorms-are-zero", "-cl-kernel-arg-info -I inc_b"};
    return {false, random->of(all)};
}

void write_file(const fs::path &folder, const std::string &text)
{
    fs::create_directories(folder);
    std::ofstream(folder / "t.h", std::ios::binary | std::ios::trunc) << text;
}

} // namespace

/* Files as every sequence expects them: two working directories, each with two folders of headers. */
void Sequence::reset_files()
{
    for (const char *directory : {"here", "there"}) {
        fs::remove_all(root() / directory);
        for (const char *folder : {"inc_a", "inc_b"})
            write_file(root() / directory / folder, random_header(&random_));
    }
    fs::current_path(root() / "here");
}

void Sequence::leave_files()
{
    fs::current_path(root());
}

/* Builds or compiles a new program, as most applications do. */
void Sequence::build_with_files()
{
    const size_t context = random_.below(contexts_.size());
    const bool is_compiled = random_.percent(25);
    const Options options = options_for_header(&random_);
    Program *program = create(text_of_header(&random_), context);
    if (program == nullptr)
        return;
    cl_int error = is_compiled ? clCompileProgram(program->handle, 0, nullptr, options.pointer(), 0, nullptr, nullptr,
                                                  nullptr, nullptr)
                               : clBuildProgram(program->handle, 0, nullptr, options.pointer(), nullptr, nullptr);
    log((is_compiled ? "clCompileProgram " : "clBuildProgram ") + program->name + " " + options.text + ": " +
        number(error));
    if (error != CL_SUCCESS)
        return;
    while (random_.percent(70))
        change_files();
    if (is_compiled) {
        const cl_program handle = clLinkProgram(contexts_[context].handle, 0, nullptr, nullptr, 1, &program->handle,
                                                nullptr, nullptr, &error);
        program = handle != nullptr ? add_program(handle, context) : nullptr;
        log(program_name(program) + " = clLinkProgram: " + number(error));
    }
    if (program != nullptr && random_.percent(60))
        create_kernel_of(program, random_.of(kernel_names()));
    if (program != nullptr && random_.percent(40))
        use_binary(program);
}

void Sequence::change_files()
{
    const fs::path directory = root() / (random_.percent(70) ? "here" : "there");
    const fs::path folder = directory / (random_.percent(50) ? "inc_a" : "inc_b");
    const size_t how = random_.below(6);
    log("change " + number(how));
    switch (how) {
    case 0:
    case 1: write_file(folder, random_header(&random_)); break;
    case 2: fs::remove(folder / "t.h"); break;
    case 3: fs::current_path(directory); break;
    case 4: fs::remove_all(folder); break;
    default:
        if (fs::exists(directory / "inc_a") && !fs::exists(directory / "aside"))
            fs::rename(directory / "inc_a", directory / "aside");
        if (fs::exists(directory / "inc_b"))
            fs::rename(directory / "inc_b", directory / "inc_a");
        if (fs::exists(directory / "aside"))
            fs::rename(directory / "aside", directory / "inc_b");
        break;
    }
}

/* Shows which kernels a program from a program's binaries has. */
void Sequence::use_binary(const Program *origin)
{
    const size_t count = programs_.size();
    copy_from_binary(origin);
    if (programs_.size() == count)
        return;
    const Program *copy = programs_.back().get();
    log("clBuildProgram of the copy: " + number(clBuildProgram(copy->handle, 0, nullptr, nullptr, nullptr, nullptr)));
    char names[200] = "";
    const cl_int error = clGetProgramInfo(copy->handle, CL_PROGRAM_KERNEL_NAMES, sizeof(names), names, nullptr);
    log("kernels of the copy: " + number(error) + " " + names);
}

void Sequence::use_any_binary()
{
    if (const Program *program = any_program(0))
        use_binary(program);
}

const std::vector<Sequence::Step> &Sequence::steps_with_files()
{
    static const std::vector<Step> all = {
        {20, &Sequence::build_with_files}, {14, &Sequence::change_files},      {6, &Sequence::use_any_binary},
        {6, &Sequence::create_kernel},     {8, &Sequence::create_all_kernels}, {2, &Sequence::clone_kernel},
        {4, &Sequence::retain_or_release}, {8, &Sequence::query_program},      {8, &Sequence::query_build},
        {8, &Sequence::query_kernel},      {8, &Sequence::query_arguments},    {4, &Sequence::query_work_group},
        {10, &Sequence::query_everything}, {2, &Sequence::program_of_kernel},  {5, &Sequence::launch},
    };
    return all;
}

} // namespace layer
