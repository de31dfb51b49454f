/*
 * memo_fuzz.cpp - changes files at random, and resolves the includes of a program in two ways: with a memo, which
 * remembers earlier resolutions, and by reading every file. Both must give the same result.
 *
 *   memo_fuzz [--steps N] [--seed N]
 *
 * In this test, the memo trusts a file as soon as the file system's clock has advanced, so that most steps can use it.
 * Sometimes a new memo takes the place of the old one, as happens when the next process starts, and finds the probes
 * that the old one stored.
 */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <random>

#include "unit/core/header_memo_fixture.h"

namespace fs = std::filesystem;
using namespace hermetic_fixture;

namespace
{

constexpr size_t kDirectories = 4;
constexpr size_t kNames = 5;
constexpr size_t kPrograms = 16;

class Random
{
public:
    explicit Random(uint64_t seed) : engine_(seed) {}
    size_t below(size_t bound) { return static_cast<size_t>(engine_() % bound); }
    bool percent(size_t chance) { return below(100) < chance; }

private:
    std::mt19937_64 engine_; /* gives the same numbers on every machine */
};

std::string directory_of(Random &random)
{
    return "d" + std::to_string(random.below(kDirectories));
}

std::string name_of(Random &random)
{
    return "h" + std::to_string(random.below(kNames)) + ".h";
}

/* ---- texts ---- */

std::string include_of(Random &random)
{
    const std::string name = name_of(random);
    switch (random.below(6)) {
    case 0: return "#include <" + name + ">\n";
    case 1: return "#include \"../" + directory_of(random) + "/" + name + "\"\n";
    case 2: return "#include NAME_" + std::to_string(random.below(3)) + "\n";
    case 3: return "#if __has_include(\"" + name + "\")\n#include \"" + name + "\"\n#endif\n";
    default: return "#include \"" + name + "\"\n";
    }
}

std::string line_of(Random &random)
{
    const std::string number = std::to_string(random.below(3));
    switch (random.below(9)) {
    case 0: return "#define NAME_" + number + " \"" + name_of(random) + "\"\n";
    case 1: return "#pragma once\n";
    case 2: return random.percent(10) ? "const char *f = __FILE__;\n" : "int f;\n";
    case 3: return "#ifdef A" + number + "\nint a;\n#else\n" + include_of(random) + "#endif\n";
    case 4: return random.percent(5) ? "#undef NAME_" + number + "\n" : "float f;\n";
    case 5:
    case 6: return include_of(random);
    default: return "int i" + number + ";\n";
    }
}

std::string header_of(Random &random)
{
    std::string text;
    for (size_t lines = random.below(4); lines != 0; --lines)
        text += line_of(random);
    /* The guard has only letters, which edit_in_place does not change. With a damaged guard, a file that includes
     * itself would take long. */
    const std::string guard =
        std::string("GUARD_") + static_cast<char>('A' + random.below(26)) + static_cast<char>('A' + random.below(26));
    return random.percent(95) ? "#ifndef " + guard + "\n#define " + guard + "\n" + text + "#endif\n" : text;
}

Input program_of(Random &random)
{
    Input input{{{"k.cl", include_of(random) + line_of(random) + include_of(random)}}};
    const ingot_text_rules_t rules[] = {pocl_rules(), intel_rules(), nvrtc_rules(), careful_rules()};
    const size_t choice = random.below(4);
    input.rules = rules[choice];
    input.kind = choice == 2 ? INGOT_SOURCE_CUDA_CPP : INGOT_SOURCE_OPENCL_C;
    for (size_t i = random.below(kDirectories); i != 0; --i)
        input.options += "-I " + directory_of(random) + " ";
    if (random.percent(10))
        input.options += "-g ";
    return input;
}

/* ---- changes ---- */

void write_file(const std::string &path, const std::string &text, int flags)
{
    const int file = open(path.c_str(), O_WRONLY | O_CREAT | flags, 0600);
    if (file < 0)
        return;
    if (write(file, text.data(), text.size()) < 0)
        std::perror(path.c_str());
    close(file);
}

void set_modified(const std::string &path, const timespec &time)
{
    const timespec times[] = {time, time};
    (void)utimensat(AT_FDCWD, path.c_str(), times, 0);
}

/* Changes some digits or nothing. Keeps the file's size, and sometimes its modification time. */
void edit_in_place(Random &random, const std::string &path)
{
    struct stat about = {};
    std::string text = read(path);
    if (stat(path.c_str(), &about) != 0 || text.empty())
        return;
    for (char &c : text) {
        if (c >= '0' && c <= '9' && random.percent(30))
            c = static_cast<char>('0' + random.below(5));
    }
    write_file(path, text, 0);
    if (random.percent(70))
        set_modified(path, about.st_mtim);
}

void replace(Random &random, const std::string &path)
{
    struct stat about = {};
    const bool has_time = stat(path.c_str(), &about) == 0;
    write_file("new", random.percent(30) ? read(path) : header_of(random), O_TRUNC);
    if (has_time && random.percent(50))
        set_modified("new", about.st_mtim);
    (void)rename("new", path.c_str());
}

void link_file(Random &random, const std::string &path)
{
    const std::string target = directory_of(random) + "/" + name_of(random);
    (void)unlink("new");
    if (random.percent(50) ? link(target.c_str(), "new") == 0 : symlink(("../" + target).c_str(), "new") == 0)
        (void)rename("new", path.c_str());
}

/* Replaces a directory by a link to another one, turns such a link back, or exchanges two directories. */
void swap_directory(Random &random)
{
    const std::string one = directory_of(random);
    const std::string two = directory_of(random);
    struct stat about = {};
    if (one == two || lstat(one.c_str(), &about) != 0)
        return;
    if (S_ISLNK(about.st_mode)) {
        (void)unlink(one.c_str());
        (void)rename((one + ".real").c_str(), one.c_str());
    } else if (random.percent(50)) {
        (void)renameat2(AT_FDCWD, one.c_str(), AT_FDCWD, two.c_str(), RENAME_EXCHANGE);
    } else if (lstat(two.c_str(), &about) == 0 && S_ISDIR(about.st_mode)) {
        (void)rename(one.c_str(), (one + ".real").c_str());
        (void)symlink(two.c_str(), one.c_str());
    }
}

void touch(Random &random, const std::string &path)
{
    const time_t now = time(nullptr);
    const timespec times[] = {{1, 0}, {now, 0}, {now + 1000000, 5}, {now, UTIME_NOW}};
    set_modified(path, times[random.below(4)]);
}

void change(Random &random)
{
    const std::string path = random.percent(10) ? name_of(random) : directory_of(random) + "/" + name_of(random);
    switch (random.below(12)) {
    case 0:
    case 1:
    case 2: edit_in_place(random, path); break;
    case 3: write_file(path, header_of(random), O_TRUNC); break;
    case 4: write_file(path, line_of(random), O_APPEND); break;
    case 5: replace(random, path); break;
    case 6: link_file(random, path); break;
    case 7: (void)unlink(path.c_str()); break;
    case 8: touch(random, path); break;
    case 9:
        (void)renameat2(AT_FDCWD, path.c_str(), AT_FDCWD, (directory_of(random) + "/" + name_of(random)).c_str(),
                        random.percent(50) ? RENAME_EXCHANGE : 0);
        break;
    case 10: swap_directory(random); break;
    default: replace(random, directory_of(random) + "/" + name_of(random)); break;
    }
}

/* ---- comparing ---- */

struct Fuzz {
    explicit Fuzz(uint64_t seed) : random(seed) {}

    Random random;
    std::vector<Input> programs;
    Keeper keeper;
    std::unique_ptr<Memo> memo = std::make_unique<Memo>(keeper);
    size_t differences = 0;
    size_t looked_up = 0;
    size_t compared = 0;

    void compare(size_t step)
    {
        const Input &input = programs[random.below(kPrograms)];
        const Result with = memo->resolve(input);
        const Result plain = resolve_with(nullptr, input);
        ++compared;
        if (with.reason == plain.reason && (!plain.reason.empty() || with.digests == plain.digests))
            return;
        ++differences;
        std::printf("step %zu: the memo differs for\n%s%s\n", step, input.sources[0].second.c_str(),
                    input.options.c_str());
    }

    /* Continues with a new memo and what the keeper has, as in the next process. */
    void renew()
    {
        looked_up += memo->looked_up;
        memo = std::make_unique<Memo>(keeper);
    }
};

size_t run(size_t steps, uint64_t seed)
{
    Fuzz fuzz(seed);
    for (size_t i = 0; i < kDirectories; ++i)
        fs::create_directory("d" + std::to_string(i));
    for (size_t i = 0; i < 3 * kDirectories * kNames; ++i)
        write_file(directory_of(fuzz.random) + "/" + name_of(fuzz.random), header_of(fuzz.random), O_TRUNC);
    for (size_t i = 0; i < kPrograms; ++i)
        fuzz.programs.push_back(program_of(fuzz.random));
    for (size_t step = 0; step < steps; ++step) {
        if (fuzz.random.percent(30))
            change(fuzz.random);
        if (fuzz.random.percent(1))
            fuzz.renew();
        if (fuzz.random.percent(1))
            fuzz.programs[fuzz.random.below(kPrograms)] = program_of(fuzz.random);
        fuzz.compare(step);
    }
    fuzz.renew();
    std::printf("%zu steps, seed %llu: %zu comparisons, %zu of them looked_up, %zu differences\n", steps,
                static_cast<unsigned long long>(seed), fuzz.compared, fuzz.looked_up, fuzz.differences);
    if (fuzz.looked_up < fuzz.compared / 20) {
        std::printf("the memo was hardly used, so this tests nothing\n");
        return 1;
    }
    return fuzz.differences;
}

} // namespace

int main(int argc, char **argv)
{
    std::map<std::string, uint64_t> values{{"--steps", 100000}, {"--seed", 1}};
    for (int i = 1; i < argc; i += 2) {
        if (values.count(argv[i]) == 0 || i + 1 == argc) {
            std::fprintf(stderr, "usage: memo_fuzz [--steps N] [--seed N]\n");
            return 2;
        }
        values[argv[i]] = std::strtoull(argv[i + 1], nullptr, 10);
    }
    const ScratchDirectory scratch("/var/tmp"); /* /tmp may be a tmpfs, where the memo does not trust files */
    fs::current_path(scratch.path());
    const size_t failures = run(values["--steps"], values["--seed"]);
    fs::current_path("/");
    return failures != 0 ? 1 : 0;
}
