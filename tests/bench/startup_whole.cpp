/*
 * startup_whole.cpp - measures the way from sources to kernels; see startup_whole.h.
 */
#include "bench/startup_whole.h"

#include "bench/sample.h"
#include "bench/startup_setup.h"

#include <sys/stat.h>

#include <cstring>
#include <set>

namespace startup
{

namespace
{

using bench::Clock;
using bench::microseconds_since;
using bench::Sample;
using Bytes = std::vector<uint8_t>;

/* Programs that Ingot loaded from the store, with all their kernels. */
class Ready : NotCopied
{
public:
    ~Ready()
    {
        for (const ingot_kernel_t kernel : kernels_)
            ingot_kernel_release(kernel);
        for (const ingot_program_t program : programs_)
            ingot_program_release(program);
    }

    void make(const Setup &setup, const ProgramFile &file)
    {
        const ingot_program_t program = load_from_store(setup, file);
        programs_.push_back(program);
        ingot_program_facts_t facts = INGOT_PROGRAM_FACTS_INIT;
        require_ingot(ingot_program_get_facts(program, &facts), file.name);
        const char *const end = facts.kernel_names + facts.kernel_names_size;
        for (const char *name = facts.kernel_names; name != end; name += std::strlen(name) + 1) {
            kernels_.push_back(nullptr);
            require_ingot(ingot_kernel_create(&kernels_.back(), program, 0, name), file.name);
        }
    }

private:
    std::vector<ingot_program_t> programs_;
    std::vector<ingot_kernel_t> kernels_;
};

class ReadyByDriver : NotCopied
{
public:
    ~ReadyByDriver()
    {
        for (const cl_kernel kernel : kernels_)
            clReleaseKernel(kernel);
        for (const cl_program program : programs_)
            clReleaseProgram(program);
    }

    void make(const NativeSetup &setup, const ProgramFile &file, const Bytes &binary)
    {
        programs_.push_back(load_binary(setup, binary, file.options));
        const std::vector<cl_kernel> kernels = kernels_of(programs_.back());
        kernels_.insert(kernels_.end(), kernels.begin(), kernels.end());
    }

private:
    std::vector<cl_program> programs_;
    std::vector<cl_kernel> kernels_;
};

double ready_by_ingot(const Setup &setup, const std::vector<ProgramFile> &files)
{
    Ready ready;
    const Clock::time_point start = Clock::now();
    for (const ProgramFile &file : files)
        ready.make(setup, file);
    return microseconds_since(start);
}

double ready_by_driver(const NativeSetup &setup, const std::vector<ProgramFile> &files,
                       const std::vector<Bytes> &binaries)
{
    ReadyByDriver ready;
    const Clock::time_point start = Clock::now();
    for (size_t i = 0; i < files.size(); ++i)
        ready.make(setup, files[i], binaries[i]);
    return microseconds_since(start);
}

double time_of_id(const Setup &setup, const ProgramFile &file)
{
    size_t size = 0;
    const uint8_t *id = nullptr;
    const Clock::time_point start = Clock::now();
    ingot_program_desc_t desc = describe(setup, file);
    require_ingot(ingot_program_desc_get_cache_blob_id(desc, &size, &id), file.name);
    const double time = microseconds_since(start);
    ingot_program_desc_release(desc);
    return time;
}

/* Returns the time in which a context computes its first id, that of a program that includes no files. Nearly all of
 * this time goes into finding the identity of the device and the compiler. */
double time_of_identity(const Setup &setup)
{
    ingot_source_info_t source_info = INGOT_SOURCE_INFO_INIT;
    source_info.kind = INGOT_SOURCE_OPENCL_C;
    source_info.bytes = "__kernel void one(__global int *x) { x[0] = 1; }\n";
    source_info.size = std::string(static_cast<const char *>(source_info.bytes)).size();
    ingot_source_t source = nullptr;
    ingot_program_desc_t desc = nullptr;
    ingot_program_info_t info = INGOT_PROGRAM_INFO_INIT;
    size_t size = 0;
    const uint8_t *id = nullptr;
    require_ingot(ingot_source_create(&source, &source_info), "source");
    info.sources = &source;
    info.source_count = 1;
    require_ingot(ingot_program_desc_create(&desc, setup.context, &info), "desc");
    const Clock::time_point start = Clock::now();
    require_ingot(ingot_program_desc_get_cache_blob_id(desc, &size, &id), "id");
    const double time = microseconds_since(start);
    ingot_program_desc_release(desc);
    ingot_source_release(source);
    return time;
}

/* Returns the names, without folders, of the files that a text includes by #include "a/x.h", #include <x.h> or #include
 * MACRO(FOLDER/x.h). */
std::vector<std::string> includes_of(const std::string &text)
{
    std::vector<std::string> names;
    for (size_t at = 0; (at = text.find("#include", at)) != std::string::npos;) {
        at += 8;
        const std::string line = text.substr(at, text.find('\n', at) - at);
        const size_t end = line.find_last_of("\">)");
        const size_t begin = end == std::string::npos ? end : line.find_last_of("\"</ ", end - 1);
        if (begin != std::string::npos)
            names.push_back(line.substr(begin + 1, end - begin - 1));
    }
    return names;
}

void add_closure(const std::string &path, std::set<std::string> *paths)
{
    if (access(path.c_str(), R_OK) != 0 || !paths->insert(path).second)
        return;
    const std::string folder = path.substr(0, path.rfind('/') + 1);
    for (const std::string &name : includes_of(bench::text_of(path)))
        add_closure(folder + name, paths);
}

/* Sets the environment variables and makes the folders that turn on the drivers' own caches. Must be called before any
 * OpenCL call. */
void turn_own_cache_on(const std::string &folder)
{
    mkdir(folder.c_str(), 0700);
    mkdir((folder + "/cl_cache").c_str(), 0700); /* for Intel's older drivers, which ignore NEO_CACHE_DIR */
    require(chdir(folder.c_str()) == 0, "cannot enter " + folder);
    setenv("NEO_CACHE_PERSISTENT", "1", 1);
    setenv("NEO_CACHE_DIR", (folder + "/cl_cache").c_str(), 1);
    setenv("POCL_CACHE_DIR", folder.c_str(), 1);
    setenv("CUDA_CACHE_DISABLE", "0", 1);
    setenv("CUDA_CACHE_PATH", folder.c_str(), 1);
}

} // namespace

void write_binaries(const std::string &set, const std::string &store)
{
    const Setup setup(store);
    const std::vector<ProgramFile> files = list_programs(set, is_cpu(setup.device));
    std::filesystem::create_directory(std::filesystem::path(binary_path(store, 0)).parent_path());
    for (size_t i = 0; i < files.size(); ++i) {
        cl_program native = nullptr;
        ingot_program_t program = load_from_store(setup, files[i]);
        require_ingot(ingot_opencl_program_get_native(program, &native), files[i].name);
        const Bytes binary = binary_of(native);
        std::ofstream file(binary_path(store, i), std::ios::binary);
        file.write(reinterpret_cast<const char *>(binary.data()), static_cast<std::streamsize>(binary.size()));
        ingot_program_release(program);
    }
}

void measure_ready_over_driver(const std::string &set, const std::string &store)
{
    const Setup setup(store);
    const std::vector<ProgramFile> files = list_programs(set, is_cpu(setup.device));
    const std::vector<Bytes> binaries = read_binaries(files.size(), store);
    Sample ingot, driver;
    ready_by_driver(setup, files, binaries);
    const double once = ready_by_ingot(setup, files);
    bench::take_turns(
        std::clamp(static_cast<int>(1e6 / once), 7, 301), [&] { return ready_by_ingot(setup, files); },
        [&] { return ready_by_driver(setup, files, binaries); }, ingot, driver);
    std::printf("ready\t%.3f\t%.3f\n", ingot.median(), driver.median());
}

void measure_whole_process(const std::string &set, const std::string &store)
{
    const Clock::time_point start = Clock::now();
    const Setup setup(store);
    const double identity_us = time_of_identity(setup);
    Ready ready;
    for (const ProgramFile &file : list_programs(set, is_cpu(setup.device)))
        ready.make(setup, file);
    std::printf("whole\t%.4f\t%.4f\t%.4f\t%.4f\n", microseconds_since(start) / 1000, setup.context_us / 1000,
                setup.open_store_us / 1000, identity_us / 1000);
}

void measure_whole_process_of_driver(const std::string &set, const std::string &store)
{
    const Clock::time_point start = Clock::now();
    const NativeSetup setup;
    ReadyByDriver ready;
    const std::vector<ProgramFile> files = list_programs(set, is_cpu(setup.device));
    const std::vector<Bytes> binaries = read_binaries(files.size(), store);
    for (size_t i = 0; i < files.size(); ++i)
        ready.make(setup, files[i], binaries[i]);
    std::printf("whole\t%.4f\n", microseconds_since(start) / 1000);
}

void measure_ids(const std::string &set, const std::string &store)
{
    const Setup setup(store);
    const std::vector<ProgramFile> files = list_programs(set, is_cpu(setup.device));
    (void)time_of_identity(setup);
    double all_us = 0, mean_us = 0;
    for (const ProgramFile &file : files)
        all_us += time_of_id(setup, file);
    for (const ProgramFile &file : files) {
        Sample sample;
        for (int i = 0; i < 11; ++i)
            sample.values.push_back(time_of_id(setup, file));
        mean_us += sample.median() / static_cast<double>(files.size());
    }
    std::printf("ids\t%.3f\t%.3f\n", all_us, mean_us);
}

void measure_reads(const std::string &set)
{
    const NativeSetup setup;
    std::set<std::string> paths;
    for (const ProgramFile &file : list_programs(set, is_cpu(setup.device)))
        add_closure(file.path, &paths);
    std::vector<char> buffer(size_t{1} << 22);
    size_t total = 0;
    const Clock::time_point start = Clock::now();
    for (const std::string &path : paths) {
        struct stat facts;
        const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
        require(file >= 0 && fstat(file, &facts) == 0 && static_cast<size_t>(facts.st_size) <= buffer.size() &&
                    read(file, buffer.data(), buffer.size()) == facts.st_size,
                "cannot read " + path);
        close(file);
        total += static_cast<size_t>(facts.st_size);
    }
    std::printf("reads\t%.3f\t%zu\t%zu\n", microseconds_since(start), paths.size(), total);
}

void measure_own_cache(const std::string &set, const std::string &folder)
{
    turn_own_cache_on(folder);
    const NativeSetup setup;
    double total_us = 0;
    for (const ProgramFile &file : list_programs(set, is_cpu(setup.device))) {
        const Clock::time_point start = Clock::now();
        const cl_program program = build_source(setup, bench::text_of(file.path), file.options);
        if (is_cpu(setup.device))
            launch_all_kernels(setup.native, setup.queue, program, setup.device);
        total_us += microseconds_since(start);
    }
    std::printf("own-cache\t%.3f\n", total_us / 1000);
}

} // namespace startup
