/*
 * opencl_layer_files_test.cpp - tests that a program stays the one that was built although the files that it included
 * change, disappear, or are no longer where its options look for them.
 */
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <iterator>

#include "layers/layer_session.h"
#include "support/opencl_platform.h"
#include "support/scratch_directory.h"

namespace
{

using namespace layer_session;

const char kText[] = "#include \"facts.h\"\n"
                     "__kernel __attribute__((reqd_work_group_size(SIZE, 1, 1)))\n"
                     "void NAME(__global int *ARGUMENT) { ARGUMENT[0] = SIZE; }\n";
const char kFirst[] = "#define SIZE 4\n#define NAME one\n#define ARGUMENT first\n";
const char kSecond[] = "#define SIZE 8\n#define NAME two\n#define ARGUMENT second\n";

/* Two folders with headers of the same name, one of which is the working directory. */
class Folders
{
public:
    Folders() : before_(std::filesystem::current_path())
    {
        write("here", kFirst);
        write("there", kSecond);
        enter("here");
    }
    ~Folders() { std::filesystem::current_path(before_); }

    std::string path(const std::string &folder) const { return (scratch_.path() / folder / "inc").string(); }
    std::string header() const { return path("here") + "/facts.h"; }
    void enter(const std::string &folder) const { std::filesystem::current_path(scratch_.path() / folder); }
    void write(const std::string &folder, const std::string &text) const
    {
        std::filesystem::create_directories(path(folder));
        std::ofstream(path(folder) + "/facts.h") << text;
    }

private:
    const std::filesystem::path before_;
    const ScratchDirectory scratch_;
};

/* Something that happens after the build. */
struct Change {
    const char *name;
    void (*make)(const Folders &);
};

const Change kChanges[] = {
    {"another text", [](const Folders &folders) { folders.write("here", kSecond); }},
    {"another directory", [](const Folders &folders) { folders.enter("there"); }},
    {"no file", [](const Folders &folders) { std::filesystem::remove(folders.header()); }},
    {"a text that does not compile", [](const Folders &folders) { folders.write("here", "#error changed\n"); }},
    {"a moved folder",
     [](const Folders &folders) {
         std::filesystem::remove_all(folders.path("here"));
         std::filesystem::rename(folders.path("there"), folders.path("here"));
     }},
};
constexpr size_t kFew = 2; /* how many of them suffice for most scenarios */

/* Runs a scenario for each of the first changes, with fresh files each time. */
void compare_changes(size_t count, const std::function<void(Session &, const Folders &, const Change &)> &scenario)
{
    for (size_t i = 0; i < count; ++i) {
        SCOPED_TRACE(kChanges[i].name);
        compare([&](Session &session) {
            const Folders folders;
            scenario(session, folders, kChanges[i]);
        });
    }
}

std::vector<unsigned char> binary_of(Session &session, cl_program program)
{
    std::vector<size_t> sizes(session.devices.size());
    session.tell("sizes", session.cl.clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizes.size() * sizeof(size_t),
                                                      sizes.data(), nullptr));
    std::vector<std::vector<unsigned char>> binaries;
    std::vector<unsigned char *> pointers;
    for (const size_t size : sizes) {
        binaries.emplace_back(size + 1);
        pointers.push_back(binaries.back().data());
        binaries.back().pop_back();
    }
    session.tell("binaries",
                 session.cl.clGetProgramInfo(program, CL_PROGRAM_BINARIES, pointers.size() * sizeof(pointers[0]),
                                             pointers.data(), nullptr));
    return binaries[0];
}

/* Reports what a program from the binary of another program is. */
void query_binary(Session &session, cl_program program)
{
    const std::vector<unsigned char> bytes = binary_of(session, program);
    const unsigned char *given = bytes.data();
    const size_t size = bytes.size();
    cl_int error = CL_SUCCESS;
    cl_program copy = session.cl.clCreateProgramWithBinary(session.context, 1, session.devices.data(), &size, &given,
                                                           nullptr, &error);
    session.tell("from binary", error);
    if (copy == nullptr)
        return;
    session.tell("build", session.cl.clBuildProgram(copy, 0, nullptr, nullptr, nullptr, nullptr));
    session.ask(
        "kernels",
        [&](size_t n, void *v, size_t *s) {
            return session.cl.clGetProgramInfo(copy, CL_PROGRAM_KERNEL_NAMES, n, v, s);
        },
        false);
    session.cl.clReleaseProgram(copy);
}

void query_everything(Session &session, cl_program program)
{
    query_binary(session, program);
    session.query_program(program);
    for (const char *name : {"one", "two"}) {
        cl_kernel kernel = session.kernel(program, name);
        if (kernel == nullptr)
            continue;
        session.query_kernel(program, kernel,
                             !OpenclPlatform::get().is_pocl()); /* TellsNothingAboutAProgramThatWasNotBuilt */
        session.cl.clReleaseKernel(kernel);
    }
}

TEST(LayerFiles, AnswersAboutTheProgramThatWasBuilt)
{
    for (const char *options : {"-I inc", "-I inc -cl-kernel-arg-info"})
        compare_changes(std::size(kChanges), [options](Session &session, const Folders &folders, const Change &change) {
            cl_program program = session.source(kText);
            session.build(program, options);
            change.make(folders);
            query_everything(session, program);
            session.cl.clReleaseProgram(program);
        });
}

/* PoCL knows attributes only of the program that it compiles for the query. After a change, it would compile another
 * one, so they are missing. */
TEST(LayerFiles, TellsNothingAboutAProgramThatWasNotBuilt)
{
    for (const bool is_changed : {false, true}) {
        const Folders folders;
        for (const bool is_loaded : {false, true}) {
            Session session(layered());
            folders.write("here", kFirst);
            cl_program program = session.source(kText);
            session.build(program, is_changed ? "-I inc -DTHEN_CHANGED" : "-I inc -DTHEN_EQUAL");
            if (is_changed)
                folders.write("here", kSecond);
            cl_kernel kernel = session.kernel(program, "one");
            char attributes[100] = "";
            EXPECT_EQ(CL_SUCCESS, session.cl.clGetKernelInfo(kernel, CL_KERNEL_ATTRIBUTES, sizeof(attributes),
                                                             attributes, nullptr));
            if (is_changed && is_loaded && OpenclPlatform::get().is_pocl())
                EXPECT_STREQ("", attributes);
            else
                EXPECT_NE(nullptr, strstr(attributes, "reqd_work_group_size(4")) << attributes;
            session.cl.clReleaseKernel(kernel);
            session.cl.clReleaseProgram(program);
        }
    }
}

TEST(LayerFiles, AnswersAboutTheObjectThatWasCompiled)
{
    compare_changes(kFew, [](Session &session, const Folders &folders, const Change &change) {
        cl_program program = session.source(kText);
        cl_int error = session.cl.clCompileProgram(program, 0, nullptr, "-I inc  -cl-mad-enable", 0, nullptr, nullptr,
                                                   nullptr, nullptr);
        session.tell("compile", error);
        change.make(folders);
        session.query_program(program);
        cl_program linked =
            session.cl.clLinkProgram(session.context, 0, nullptr, nullptr, 1, &program, nullptr, nullptr, &error);
        session.tell("link", error);
        query_everything(session, linked);
        session.cl.clReleaseProgram(linked);
        session.cl.clReleaseProgram(program);
    });
}

/* The driver does the first of these builds as the application asks. After one that fails, drivers still report
 * some facts of the build before, which the driver then did not do. */
TEST(LayerFiles, BuildsAgainFromTheFilesOfThen)
{
    for (const char *again : {"-I inc -g", "-I inc"})
        compare_changes(kFew, [again](Session &session, const Folders &folders, const Change &change) {
            cl_program program = session.source(kText);
            session.build(program, "-I inc");
            change.make(folders);
            const cl_int error = session.cl.clBuildProgram(program, 0, nullptr, again, nullptr, nullptr);
            session.tell("build again", error);
            if (error == CL_SUCCESS)
                query_everything(session, program);
            else
                EXPECT_EQ(nullptr, session.kernel(program, "one"));
            session.cl.clReleaseProgram(program);
        });
}

/* The other device would keep the program of the first build, which the driver cannot repeat from other files. */
TEST(LayerFiles, RefusesABuildForSomeDevicesAfterAChange)
{
    for (int i = 0; i < 2; ++i) {
        const Folders folders;
        Session session(layered(), 2);
        if (session.devices.size() < 2)
            return; /* Intel's driver simulates one device */
        cl_program program = session.source(kText);
        session.build(program, "-I inc");
        EXPECT_EQ(CL_SUCCESS,
                  session.cl.clBuildProgram(program, 1, &session.devices[1], "-I inc -g", nullptr, nullptr));
        session.cl.clReleaseProgram(program);
        program = session.source(kText);
        session.build(program, "-I inc");
        folders.write("here", kSecond);
        EXPECT_EQ(CL_OUT_OF_RESOURCES,
                  session.cl.clBuildProgram(program, 1, &session.devices[1], "-I inc -g", nullptr, nullptr));
        cl_kernel kernel = session.kernel(program, "one");
        EXPECT_NE(nullptr, kernel);
        session.cl.clReleaseKernel(kernel);
        session.cl.clReleaseProgram(program);
    }
}

/* If the driver refuses the loaded program, and cannot compile it anymore, the application gets the driver's error, but
 * never a kernel of another program. The next process compiles. */
TEST(LayerFiles, GivesNoKernelOfAnotherProgram)
{
    for (size_t i = 0; i < kFew; ++i) {
        const Change &change = kChanges[i];
        for (const bool is_refused : {false, true}) {
            SCOPED_TRACE(change.name);
            const Folders folders;
            Session session(layered());
            cl_program program = session.source(kText);
            session.build(program, "-I inc -DREFUSED_AFTER_A_CHANGE");
            change.make(folders);
            refuses_kernel = is_refused;
            cl_kernel kernel = session.kernel(program, "one");
            EXPECT_EQ(is_refused, kernel == nullptr);
            EXPECT_EQ(nullptr, session.kernel(program, "two"));
            if (kernel == nullptr) {
                session.cl.clReleaseProgram(program);
                continue;
            }
            session.query_kernel(program, kernel);
            EXPECT_NE(session.report.end(),
                      std::find(session.report.begin(), session.report.end(), "same program = 1"));
            session.cl.clReleaseProgram(program); /* the kernel keeps it */
            cl_uint count = 0;
            EXPECT_EQ(CL_SUCCESS,
                      session.cl.clGetKernelInfo(kernel, CL_KERNEL_NUM_ARGS, sizeof(count), &count, nullptr));
            EXPECT_EQ(1u, count);
            session.cl.clReleaseKernel(kernel);
        }
    }
}

} // namespace
