/*
 * startup_measure.cpp - makes programs ready and loads them, in measuring processes of the startup benchmark; see
 * startup_measure.h.
 */
#include "bench/startup_measure.h"

#include "bench/sample.h"
#include "bench/startup_setup.h"

#include <sys/stat.h>

#include <cstring>
#include <set>

namespace startup
{

using bench::Clock;
using bench::microseconds_since;
using bench::Sample;
using Bytes = std::vector<uint8_t>;

static cl_program native_of(ingot_program_t program)
{
    cl_program native = nullptr;
    require_ingot(ingot_opencl_program_get_native(program, &native), "native program");
    return native;
}

static double load_by_ingot(ingot_program_desc_t desc, const ingot_buffer_t &blob)
{
    ingot_program_t program = nullptr;
    const Clock::time_point start = Clock::now();
    const ingot_status_t status = ingot_program_create_from_cache_blob(&program, desc, blob.size, blob.bytes);
    const double time = microseconds_since(start);
    require_ingot(status, "create_from_cache_blob");
    ingot_program_release(program);
    return time;
}

static double load_by_driver(const Setup &setup, const std::vector<uint8_t> &binary, const std::string &options)
{
    const Clock::time_point start = Clock::now();
    cl_program program = load_binary(setup, binary, options);
    const double time = microseconds_since(start);
    clReleaseProgram(program);
    return time;
}

constexpr int kSealRounds = 51;

static ingot_status_t load_kept(void *self, size_t, const uint8_t *, ingot_buffer_t *blob)
{
    const auto &bytes = *static_cast<const std::vector<uint8_t> *>(self);
    *blob = {bytes.size(), bytes.data(), nullptr, nullptr};
    return INGOT_SUCCESS;
}

static ingot_status_t keep(void *self, size_t, const uint8_t *, size_t size, const uint8_t *blob)
{
    static_cast<std::vector<uint8_t> *>(self)->assign(blob, blob + size);
    return INGOT_SUCCESS;
}

static ingot_status_t next_key(size_t index, ingot_persist_key_t *key, void *user)
{
    if (index != 0)
        return INGOT_NOT_FOUND;
    key->kind = *static_cast<const ingot_persist_key_kind_t *>(user);
    for (size_t i = 0; i < sizeof(key->bytes); ++i)
        key->bytes[i] = static_cast<uint8_t>(i + 1);
    return INGOT_SUCCESS;
}

/* Returns the median time, in microseconds, of loads from a storage that checks a seal and returns its only blob
 * without a copy. */
static double check_seal_us(ingot_persist_key_kind_t kind, size_t id_size, const uint8_t *id,
                            const ingot_buffer_t &blob)
{
    std::vector<uint8_t> kept;
    ingot_storage_t storage = nullptr;
    ingot_storage_ops_t ops{};
    ops.struct_size = sizeof(ops);
    ops.load = load_kept;
    ops.store = keep;
    ingot_persist_trust_t trust = INGOT_PERSIST_TRUST_INIT;
    trust.policy = INGOT_PERSIST_TRUST_REQUIRE;
    trust.next_key = next_key;
    trust.user = &kind;
    require_ingot(ingot_storage_create(&storage, &ops, &kept), "storage");
    require_ingot(ingot_persist_set_trust(storage, &trust), "trust");
    require_ingot(ingot_storage_store(storage, id_size, id, blob.size, blob.bytes), "seal");
    Sample sample;
    for (int i = 0; i < kSealRounds; ++i) {
        ingot_buffer_t opened = INGOT_BUFFER_INIT;
        const Clock::time_point start = Clock::now();
        require_ingot(ingot_storage_load(storage, id_size, id, &opened), "sealed blob");
        sample.values.push_back(microseconds_since(start));
        if (opened.release != nullptr)
            opened.release(&opened);
    }
    ingot_storage_release(storage);
    return sample.median();
}

static void measure_load_of(const Setup &setup, const ProgramFile &file)
{
    ingot_program_desc_t desc = describe(setup, file, INGOT_PROGRAM_NO_MEMORY_CACHE);
    size_t id_size = 0;
    const uint8_t *id = nullptr;
    require_ingot(ingot_program_desc_get_cache_blob_id(desc, &id_size, &id), "id");
    ingot_buffer_t blob = INGOT_BUFFER_INIT;
    require_ingot(ingot_storage_load(setup.store, id_size, id, &blob), "storage load");

    ingot_program_t program = nullptr;
    require_ingot(ingot_program_create_from_cache_blob(&program, desc, blob.size, blob.bytes), file.name);
    const std::vector<uint8_t> binary = binary_of(native_of(program));
    ingot_program_release(program);

    /* As many rounds as take the driver half a second; at least 5, for quartiles, and at most 301. */
    load_by_ingot(desc, blob);
    const double once = load_by_driver(setup, binary, file.options);
    const int rounds = std::clamp(static_cast<int>(5e5 / once), 5, 301);
    Sample ingot, driver;
    bench::take_turns(
        rounds, [&] { return load_by_ingot(desc, blob); }, [&] { return load_by_driver(setup, binary, file.options); },
        ingot, driver);
    std::printf("load\t%s\t%.3f\t%.3f\t%.3f\t%.3f\t%zu\t%zu\t%.3f\t%.3f\n", file.name.c_str(), ingot.median(),
                ingot.spread(), driver.median(), driver.spread(), binary.size(), blob.size,
                check_seal_us(INGOT_PERSIST_KEY_BLAKE2B, id_size, id, blob),
                check_seal_us(INGOT_PERSIST_KEY_ED25519_SECRET, id_size, id, blob));
    blob.release(&blob);
    ingot_program_desc_release(desc);
}

void measure_ready(const std::string &set, const std::string &store)
{
    Setup setup(store);
    std::vector<ingot_program_t> programs;
    for (const ProgramFile &file : list_programs(set, is_cpu(setup.device))) {
        ingot_program_t program = nullptr;
        ingot_origin_t origin = INGOT_ORIGIN_BUILD;
        const Clock::time_point start = Clock::now();
        ingot_program_desc_t desc = describe(setup, file);
        require_ingot(ingot_persist_program_create(&program, desc, setup.store, &origin), file.name);
        if (setup.launches)
            launch_all_kernels(setup.native, setup.queue, native_of(program), setup.device);
        const double time = microseconds_since(start);
        std::printf("ready\t%s\t%s\t%.3f\n", file.name.c_str(), ingot_origin_name(origin), time / 1000);
        std::fflush(stdout);
        ingot_program_desc_release(desc);
        programs.push_back(program);
    }
    const Clock::time_point start = Clock::now();
    require_ingot(ingot_persist_flush(setup.store, nullptr, nullptr), "flush");
    std::printf("flush\t%.3f\n", microseconds_since(start) / 1000);
    for (ingot_program_t program : programs)
        ingot_program_release(program);
}

void measure_load(const std::string &set, const std::string &store)
{
    Setup setup(store);
    for (const ProgramFile &file : list_programs(set, is_cpu(setup.device))) {
        measure_load_of(setup, file);
        std::fflush(stdout);
    }
}

/* ---- from sources to kernels ---- */

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

static double ready_by_ingot(const Setup &setup, const std::vector<ProgramFile> &files)
{
    Ready ready;
    const Clock::time_point start = Clock::now();
    for (const ProgramFile &file : files)
        ready.make(setup, file);
    return microseconds_since(start);
}

static double ready_by_driver(const NativeSetup &setup, const std::vector<ProgramFile> &files,
                              const std::vector<Bytes> &binaries)
{
    ReadyByDriver ready;
    const Clock::time_point start = Clock::now();
    for (size_t i = 0; i < files.size(); ++i)
        ready.make(setup, files[i], binaries[i]);
    return microseconds_since(start);
}

static double time_of_id(const Setup &setup, const ProgramFile &file)
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
static double time_of_identity(const Setup &setup)
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
static std::vector<std::string> includes_of(const std::string &text)
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

static void add_closure(const std::string &path, std::set<std::string> *paths)
{
    if (access(path.c_str(), R_OK) != 0 || !paths->insert(path).second)
        return;
    const std::string folder = path.substr(0, path.rfind('/') + 1);
    for (const std::string &name : includes_of(bench::text_of(path)))
        add_closure(folder + name, paths);
}

/* Sets the environment variables and makes the folders that turn on the drivers' own caches. Must be called before any
 * OpenCL call. */
static void turn_own_cache_on(const std::string &folder)
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

void write_binaries(const std::string &set, const std::string &store)
{
    const Setup setup(store);
    const std::vector<ProgramFile> files = list_programs(set, is_cpu(setup.device));
    std::filesystem::create_directory(std::filesystem::path(binary_path(store, 0)).parent_path());
    for (size_t i = 0; i < files.size(); ++i) {
        ingot_program_t program = load_from_store(setup, files[i]);
        const Bytes binary = binary_of(native_of(program));
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
    std::printf("whole\t%.4f\t%.4f\n", microseconds_since(start) / 1000, identity_us / 1000);
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
