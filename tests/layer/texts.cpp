/*
 * texts.cpp - makes the sources, options and headers that the sequences compile; see texts.h.
 */
#include "layer/texts.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace layer
{

namespace
{

struct Pattern {
    const char *name;
    const char *source; /* @ stands for the version */
    std::vector<std::string> kernels;
};

const std::vector<Pattern> good_patterns = {
    {"add", "kernel void add(global int *out, int n) { out[get_global_id(0)] = n + @; }\n", {"add"}},
    {"two",
     "kernel __attribute__((reqd_work_group_size(4, 1, 1))) void twice(global int *out, int n)\n"
     "{ out[get_global_id(0)] = 2 * n + @; }\n"
     "kernel __attribute__((work_group_size_hint(2, 1, 1), vec_type_hint(float4)))\n"
     "void thrice(global int *out, int n) { out[get_global_id(0)] = 3 * n + @; }\n",
     {"twice", "thrice"}},
    {"table",
     "constant int table[4] = {@, 1, 2, 3};\n"
     "kernel void from_table(global int *out, int n) { out[get_global_id(0)] = table[(n + get_global_id(0)) & 3]; }\n",
     {"from_table"}},
    {"defined",
     "#ifndef N\n#define N @\n#endif\n"
     "kernel void with_n(global int *out, int n) { out[get_global_id(0)] = n * N; }\n",
     {"with_n"}},
    {"warning",
     "#warning version @\n"
     "kernel void add(global int *out, int n) { int unused; out[get_global_id(0)] = n - @; }\n",
     {"add"}},
};

const std::vector<Pattern> other_patterns = {
    {"included",
     "#include \"t.h\"\n"
     "kernel void included(global int *out, int n) { out[get_global_id(0)] = n + T + @; }\n",
     {"included"}},
    {"angled", "#include <t.h>\nkernel void included(global int *out, int n) { out[0] = T + @; }\n", {"included"}},
    {"broken", "kernel void add(global int *out, int n) { out[0] = n + @ }\n", {}},
    {"undefined",
     "int no_such_function(int);\nkernel void add(global int *out, int n) { out[0] = no_such_function(@); }\n",
     {}},
    {"error", "#error version @\n", {}},
    {"counter",
     "global int counter = @;\nkernel void count(global int *out, int n)\n"
     "{ if (get_global_id(0) == 0) { counter += n; out[0] = counter; } }\n",
     {"count"}},
    {"odd",
     "typedef struct { int a; float4 b; } pair;\n"
     "kernel void odd(global const volatile int *restrict first, local float2 *second, constant uchar *third,\n"
     "                pair fourth, read_only image2d_t fifth, sampler_t sixth, __private ulong4 seventh)\n"
     "{ (void)first; (void)second; (void)third; (void)fourth; (void)seventh; }\n"
     "kernel void nothing(void) { }\n",
     {}},
    {"empty", "", {}},
    {"comment", "/* version @ */\n", {}},
    {"no kernel", "int function@(int n) { return n; }\n", {}},
    {"dated",
     "kernel void add(global int *out, int n) { out[get_global_id(0)] = sizeof(__FILE__) > 0 ? n : @; }\n",
     {"add"}},
    {"attributes",
     "kernel __attribute__((reqd_work_group_size(1, 1, 1))) void single(global int *out, int n)\n"
     "{ local int shared[16]; shared[0] = n; out[get_global_id(0)] = shared[0] + @; }\n",
     {"single"}},
};

/* Returns the content of a file, or "" if no sequence has written it. */
std::string content_of(const std::filesystem::path &path)
{
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void write(const std::filesystem::path &path, const std::string &content)
{
    if (content_of(path) == content)
        return;
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    file << content;
    if (!file)
        throw std::runtime_error("cannot write " + path.string());
}

Text text_of(const Pattern &pattern, Random *random)
{
    const std::string version = std::to_string(random->below(2));
    std::string source = pattern.source;
    for (size_t at = 0; (at = source.find('@', at)) != std::string::npos;)
        source.replace(at, 1, version);
    return {std::string(pattern.name) + " " + version, source, pattern.kernels};
}

/* Returns random options, which are often NULL or the empty string. */
Options options_of(Random *random, const std::vector<std::string> &all)
{
    if (random->percent(35))
        return {true, ""};
    return {false, random->percent(15) ? "" : random->of(all)};
}

} // namespace

Text good_text(Random *random)
{
    return text_of(random->of(good_patterns), random);
}

Text included_text(Random *random)
{
    return text_of(other_patterns.front(), random);
}

Text random_text(Random *random)
{
    return random->percent(45) ? good_text(random) : text_of(random->of(other_patterns), random);
}

std::vector<Text> linked_texts(Random *random)
{
    static const Pattern first = {"helper", "int helper(int n) { return n + @; }\n", {}};
    static const Pattern second = {
        "caller",
        "int helper(int n);\nkernel void call(global int *out, int n) { out[get_global_id(0)] = helper(n) * 2; }\n",
        {"call"}};
    return {text_of(first, random), text_of(second, random)};
}

Options build_options(Random *random)
{
    static const std::vector<std::string> all = {
        " ",
        "-DN=2",
        "-D N=3",
        "-DN=4 -D M",
        "-I inc_a",
        "-Iinc_b",
        "-I inc_b -I inc_a -DN=5",
        "-I no_such_folder",
        "-cl-fast-relaxed-math",
        "-cl-mad-enable -cl-no-signed-zeros",
        "-cl-opt-disable",
        "-w",
        "-Werror",
        "-cl-std=CL1.2",
        "-cl-std=CL2.0",
        "-cl-std=CL3.0",
        "-cl-std=CL9.9",
        "-cl-kernel-arg-info",
        "-cl-kernel-arg-info -DN=6",
        "-g",
        "-bogus-option",
        "-create-library",
        "  -DN=7\t ",
        "-DN=\"8\"",
    };
    return options_of(random, all);
}

Options link_options(Random *random)
{
    static const std::vector<std::string> all = {
        "-create-library", "-create-library -enable-link-options", "-cl-fast-relaxed-math", "-bogus-option", " ",
    };
    return options_of(random, all);
}

const std::vector<std::string> &kernel_names()
{
    static const std::vector<std::string> names = {"add",   "twice",  "thrice", "from_table", "with_n", "included",
                                                   "count", "single", "call",   "odd",        "nothing"};
    return names;
}

bool can_be_launched(const std::string &kernel)
{
    const std::vector<std::string> &names = kernel_names();
    const auto found = std::find(names.begin(), names.end(), kernel);
    return found != names.end() && kernel != "odd" && kernel != "nothing";
}

void write_headers()
{
    for (const char *folder : {"inc_a", "inc_b"})
        std::filesystem::create_directories(folder);
    write("inc_a/t.h", "#define T 100\n");
    write("inc_b/t.h", "#include \"u.h\"\n#define T (200 + U)\n");
    write("inc_b/u.h", "#define U 1\n");
}

void edit_header(Random *random)
{
    if (random->percent(50))
        write("inc_a/t.h", "#define T 101\n");
    else
        write("inc_b/u.h", "#define U 2\n");
}

} // namespace layer
