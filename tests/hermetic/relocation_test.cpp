/*
 * relocation_test.cpp - tests that a project has the same ids wherever it lies: in another directory, on another mount,
 * under a symbolic link, with another working directory and another home. Where a program depends on its place, its id
 * does, too; doc/shipping.md lists these programs.
 *
 * The test starts itself with --ids for each place.
 */
#include <cstring>
#include <iostream>
#include <sstream>

#include <gtest/gtest.h>

#include "hermetic/compilers.h"
#include "support/child_process.h"
#include "support/scratch_directory.h"
#include "support/whole_file.h"

namespace
{

using namespace hermetic;
namespace fs = std::filesystem;

struct Case {
    std::string name;
    std::string source;
    std::string options; /* ROOT stands for the project's absolute path */
    bool is_movable;
};

std::vector<Case> cases()
{
    const std::string kernel = RELOCATION_IS_CUDA ? "extern \"C\" __global__ void k(int *p) { *p = AMOUNT; }\n"
                                                  : "kernel void k(global int *p) { *p = AMOUNT; }\n";
    const std::string include = "#include <amount.h>\n" + kernel;
    const std::string name = "#include <name.h>\n" + kernel;
    return {
        {"no include", "#define AMOUNT 1\n" + kernel, "", true},
        {"absolute -I", include, "-IROOT/inc", true},
        {"absolute -I, as two words", include, "-I ROOT/inc", true},
        {"relative -I", include, "-I inc", true},
        {"relative -I with dots", include, "-I ./inc/../inc", true},
        {"several -I", include, "-I ROOT/none -I inc -I ROOT/inc", true},
        {"headers that include each other", "#include \"outer.h\"\n" + kernel, "-I ROOT/inc", true},
        {"a computed include", "#define FILE <amount.h>\n#include FILE\n" + kernel, "-I ROOT/inc", true},
        {"a name of a file, relative -I", name, "-I inc", true},
        {"a name of a file, absolute -I", name, "-I ROOT/inc", false},
        {"a path in a definition", include, "-I ROOT/inc -DPLACE=ROOT", false},
        {"debug information", include, RELOCATION_IS_CUDA ? "-I ROOT/inc -lineinfo" : "-I ROOT/inc -g", false},
    };
}

using whole_file::write;

void make_project(const fs::path &root)
{
    write(root / "inc/amount.h", "#pragma once\n#define AMOUNT 3\n");
    write(root / "inc/outer.h", "#ifndef OUTER\n#define OUTER\n#include \"parts/inner.h\"\n#endif\n");
    write(root / "inc/parts/inner.h", "#include \"../amount.h\"\n#include \"beside.h\"\n");
    write(root / "inc/parts/beside.h", "#define BESIDE\n");
    write(root / "inc/name.h", "#define AMOUNT sizeof(__FILE__)\n");
}

std::string with_root(std::string options, const std::string &root)
{
    for (size_t at; (at = options.find("ROOT")) != std::string::npos;)
        options.replace(at, 4, root);
    return options;
}

/* Prints the id of each case in a line, or why there is none. */
int print_ids(const std::string &root)
{
    fs::current_path(root);
    const std::unique_ptr<Compiler> compiler = RELOCATION_IS_CUDA ? make_nvrtc_compiler() : make_opencl_compiler("");
    for (const Case &each : cases()) {
        const Description found = compiler->describe({each.source, with_root(each.options, root)});
        std::ostringstream line;
        line << (found.is_cacheable ? "id " : "none: " + found.reason);
        for (const char byte : found.id)
            line << std::hex << (byte & 0xff) << '.';
        std::cout << line.str() << "\n";
    }
    return 0;
}

class Relocation : public testing::Test
{
protected:
    std::vector<std::string> ids(const fs::path &root)
    {
        const std::string home = (root / "home").string();
        const std::string output = (scratch_.path() / "output").string();
        fs::create_directories(home);
        child_process::Child child({"/proc/self/exe", "--ids", root.string()}, output,
                                   {{"HOME", home},
                                    {"XDG_CACHE_HOME", home + "/cache"},
                                    {"XDG_CONFIG_HOME", home + "/config"},
                                    {"TMPDIR", home},
                                    {"PWD", root.string()},
                                    {"USER", "user of " + root.filename().string()},
                                    {"VIRTUAL_ENV", home + "/environment"},
                                    {"PATH", home + "/environment/bin:/usr/bin:/bin"}});
        EXPECT_EQ(0, child.wait()) << child.output();
        std::vector<std::string> lines;
        std::istringstream text(child.output());
        for (std::string line; std::getline(text, line);)
            lines.push_back(line);
        return lines;
    }

    static void expect_same(const std::vector<std::string> &here, const std::vector<std::string> &there)
    {
        const std::vector<Case> all = cases();
        ASSERT_EQ(all.size(), here.size());
        ASSERT_EQ(all.size(), there.size());
        for (size_t i = 0; i < all.size(); ++i) {
            EXPECT_EQ(0u, here[i].find("id ")) << all[i].name << ": " << here[i];
            EXPECT_EQ(all[i].is_movable, here[i] == there[i]) << all[i].name;
        }
    }

    const ScratchDirectory scratch_;
};

TEST_F(Relocation, AProjectHasTheSameIdsInAnotherDirectoryAndHome)
{
    make_project(scratch_.path() / "first");
    make_project(scratch_.path() / "deeper/second");
    expect_same(ids(scratch_.path() / "first"), ids(scratch_.path() / "deeper/second"));
}

TEST_F(Relocation, AProjectHasTheSameIdsOnAnotherMount)
{
    const ScratchDirectory other("/dev/shm");
    make_project(scratch_.path() / "project");
    make_project(other.path() / "moved");
    expect_same(ids(scratch_.path() / "project"), ids(other.path() / "moved"));
}

TEST_F(Relocation, AProjectHasTheSameIdsUnderASymbolicLink)
{
    make_project(scratch_.path() / "project");
    fs::create_directory_symlink("project", scratch_.path() / "link");
    expect_same(ids(scratch_.path() / "project"), ids(scratch_.path() / "link"));
}

/* So that the tests above see a difference. */
TEST_F(Relocation, ADifferentHeaderGivesDifferentIds)
{
    make_project(scratch_.path() / "first");
    make_project(scratch_.path() / "second");
    write(scratch_.path() / "second/inc/amount.h", "#pragma once\n#define AMOUNT 4\n");
    const std::vector<std::string> first = ids(scratch_.path() / "first");
    const std::vector<std::string> second = ids(scratch_.path() / "second");
    EXPECT_EQ(first[0], second[0]);
    for (size_t i = 1; i < 8; ++i)
        EXPECT_NE(first[i], second[i]) << cases()[i].name;
}

} // namespace

int main(int count, char **words)
{
    if (count == 3 && std::strcmp(words[1], "--ids") == 0)
        return print_ids(words[2]);
    testing::InitGoogleTest(&count, words);
    return RUN_ALL_TESTS();
}
