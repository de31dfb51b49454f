/*
 * texts_test.cpp - compares what compilers get, and what ids say of included files, with golden texts.
 *
 * A new build of Ingot loads what earlier builds stored, because ids do not contain its revision. So a change of the
 * texts must be meant: if this test fails, raise ID_RULES (core/descriptor/cache_blob_id_format.h), and write the
 * golden file again by naming a directory in INGOT_WRITE_GOLDEN.
 */
#include <algorithm>
#include <sstream>

#include "core/descriptor/cache_blob_id_format.h"
#include "unit/core/hermetic_fixture.h"

using namespace hermetic_fixture;

namespace
{

std::string hex(const std::string &bytes)
{
    static const char digits[] = "0123456789abcdef";
    std::string text;
    for (const char byte : bytes) {
        text += digits[static_cast<unsigned char>(byte) >> 4];
        text += digits[static_cast<unsigned char>(byte) & 15];
    }
    return text;
}

class GoldenTexts : public HermeticTest
{
protected:
    void SetUp() override
    {
        HermeticTest::SetUp();
        write("inc/once.h", "#pragma once\nint once;\n");
        write("inc/guarded.h", "#ifndef GUARDED_H\n#define GUARDED_H\n"
                               "#include \"deeper/leaf.h\"\nint guarded;\n#endif\n");
        write("inc/deeper/leaf.h", "int leaf = __LINE__;\n");
        write("inc/variant_a.h", "int variant_a;\n");
        write("inc/variant_b.h", "int variant_b;\n");
        write("inc/no_newline.h", "int no_newline;");
        write("inc/list.def", "X(one)\nX(two)\n");
        write("beside.h", "int beside;\r\nint carriage_return;\r\n");
    }

    /* Returns what a compiler gets for an input, and what the id says of its files. */
    std::string section_of(const Input &input)
    {
        const Result result = resolve(input);
        std::string section = "-- digests " + hex(digest(result.digests)) + "\n";
        if (!result.reason.empty())
            section += "-- native: " + result.reason + "\n";
        if (!result.gap.empty())
            section += "-- gap: " + result.gap + "\n";
        for (const std::string &text : result.texts)
            section += "-- text\n" + text + "\n";
        return section;
    }

    void add(const std::string &name, const Input &input) { golden_ += "== " + name + "\n" + section_of(input); }

    /* Returns a section's lines that differ from those of another one, with their numbers; the whole section if it has
     * more or fewer lines. */
    static std::string difference(const std::string &section, const std::string &from)
    {
        std::istringstream lines(section), others(from);
        std::string all, line, other;
        if (std::count(section.begin(), section.end(), '\n') != std::count(from.begin(), from.end(), '\n'))
            return section;
        for (int number = 1; std::getline(lines, line) && std::getline(others, other); ++number)
            all += line != other ? "line " + std::to_string(number) + ": " + line + "\n" : "";
        return all;
    }

    /* Writes what several compilers get alike once, under the names of all, and of the others only what differs. */
    void add_for_each_compiler(const std::string &name, const std::string &source, const std::string &options)
    {
        const std::pair<const char *, ingot_text_rules_t> compilers[] = {
            {"pocl", pocl_rules()}, {"intel", intel_rules()}, {"nvrtc", nvrtc_rules()}, {"unknown", careful_rules()}};
        std::vector<std::pair<std::string, std::string>> groups; /* names, section */
        for (const auto &[compiler, rules] : compilers) {
            const std::string section =
                section_of(Input{{{"k.cl", source}}, options, {}, INGOT_SOURCE_OPENCL_C, rules});
            const auto same = std::find_if(groups.begin(), groups.end(),
                                           [&section](const auto &group) { return group.second == section; });
            if (same != groups.end())
                same->first += std::string(", ") + compiler;
            else
                groups.emplace_back(name + ", " + compiler, section);
        }
        for (const auto &[names, section] : groups) {
            const std::string &first = groups.front().second;
            golden_ += "== " + names + "\n" + (section == first ? section : difference(section, first));
        }
    }

    std::string golden_ = std::string(ID_RULES) + "\n";
};

} // namespace

TEST_F(GoldenTexts, AreThoseOfTheRulesThatIdsName)
{
    add_for_each_compiler("nothing included", "kernel void k() {} /* #include \"x.h\" */\n", "-cl-fast-relaxed-math");
    add_for_each_compiler("nested", "#include <guarded.h>\n#include \"guarded.h\"\nint k = __LINE__;\n", "-I inc");
    add_for_each_compiler("once", "#include \"once.h\"\n#include <once.h>\n", "-Iinc");
    add_for_each_compiler("computed", "#define FILE <variant_a.h>\n#include FILE\n", "-Iinc");
    add_for_each_compiler("computed by an option", "#include VARIANT\n", "-Iinc -DVARIANT=<variant_b.h>");
    add_for_each_compiler("conditional",
                          "#if defined(A) && VERSION > 2\n#include <variant_a.h>\n"
                          "#else\n#include <variant_b.h>\n#endif\n",
                          "-I inc -DA -D VERSION=3");
    add_for_each_compiler("repeated",
                          "#define X(n) int n;\n#include <list.def>\n#undef X\n#define X(n) #n,\n"
                          "#include <list.def>\n",
                          "-I inc");
    add_for_each_compiler("beside, and without a final newline",
                          "#include \"beside.h\"\n#include <no_newline.h>\nint k;", "-I inc");
    add_for_each_compiler("spliced", "#inc\\\nlude <once.h> // a comm\\\nent\n%:include <variant_a.h>\n", "-I inc");
    add_for_each_compiler("missing", "#ifdef NEVER\n#include <missing.h>\n#endif\n#include <once.h>\n", "-I inc");
    add("embedded headers", Input{{{"k.cu", "#include \"e.h\"\n"}},
                                  "",
                                  {{"e.h", "#include \"f.h\"\nint e;\n"}, {"f.h", "int f;\n"}},
                                  INGOT_SOURCE_CUDA_CPP,
                                  nvrtc_rules()});
    add("two sources", Input{{{"a.cl", "#include <once.h>\n"}, {"b.cl", "#include <once.h>\nint b;\n"}},
                             "-I inc",
                             {},
                             INGOT_SOURCE_OPENCL_C,
                             pocl_rules()});

    if (const char *directory = std::getenv("INGOT_WRITE_GOLDEN"))
        std::ofstream(std::string(directory) + "/rules-1.txt", std::ios::binary) << golden_;
    const std::string known = read(INGOT_SOURCE_DIR "/tests/golden/texts/rules-1.txt");
    const auto differs = std::mismatch(known.begin(), known.end(), golden_.begin(), golden_.end()).first;
    EXPECT_TRUE(known == golden_) << "compilers get other texts, from line "
                                  << std::count(known.begin(), differs, '\n') + 1
                                  << ": if that is meant, raise ID_RULES and write the golden file again";
}
