/*
 * cuda_measure.cpp - measures builds and loads with CUDA, and with NVIDIA's OpenCL alone, in the measuring processes of
 * the CUDA benchmark.
 */
#include "bench/cuda_measure.h"

#include "bench/sample.h"
#include "bench/startup_setup.h"
#include "support/cuda_driver.h"

#include <ingot/persist.h>

#include <nvrtc.h>

#include <sstream>

namespace cuda_bench
{

namespace
{

using bench::blob_of;
using bench::Clock;
using bench::microseconds_since;
using bench::ProgramFile;
using bench::require;
using bench::require_ingot;
using bench::Sample;
using Bytes = std::vector<uint8_t>;

struct Row {
    const char *name, *file, *options;
    std::vector<const char *> expressions;
};

const std::vector<Row> kOthers = {
    {"reduce sum", "reduce.cu", "", {"reduce<double>", "reduce<float>", "reduce<int>"}},
    {"gemm 64 bias", "gemm.cu", "-DTILE=64 -DWORK=4 -DFUSE_BIAS", {}},
    {"conv2d 3x3", "conv2d.cu", "-DKERNEL=3 -DCHANNELS=64", {}},
    {"conv2d 7x7", "conv2d.cu", "-DKERNEL=7 -DCHANNELS=3", {}},
    {"histogram", "histogram.cu", "-DBINS=256", {}},
    {"attention", "attention.cu", "-DHEAD=64 -DTILE=32", {}},
    {"sha256", "sha256.cu", "", {}},
};

/* Returns the programs of a set: those of the digits example, or others. Several share a source and differ in their
 * options. */
std::vector<ProgramFile> list_programs(const std::string &set)
{
    if (set == "digits") {
        std::vector<ProgramFile> digits = startup::list_programs("8 CUDA layers", false);
        for (ProgramFile &file : digits)
            file.options += " -I " CUDA_INCLUDE_DIRECTORY;
        return digits;
    }
    const std::string folder = INGOT_SOURCE_DIR "/tests/bench/cuda";
    std::vector<ProgramFile> programs;
    for (const Row &row : kOthers)
        programs.push_back({row.name, folder + "/" + row.file,
                            "--std=c++17 -I " + folder + " -I " CUDA_INCLUDE_DIRECTORY " " + row.options,
                            row.expressions});
    return programs;
}

/* The first GPU's CUDA context, which is made current in this thread, and Ingot's context for it. */
struct Gpu {
    CudaDriver &driver = CudaDriver::get();
    CUcontext native = driver.contexts()[0];
    ingot_context_t context = nullptr;

    Gpu()
    {
        driver.call("cuCtxPushCurrent_v2", native);
        require_ingot(ingot_cuda_context_create(&context, 1, &native, nullptr), "context");
    }
    ~Gpu() { ingot_context_release(context); }
};

/* Returns what lies between the first ELF magic and the last 16 bytes: a blob with one section ends with its binary and
 * a checksum of 16 bytes. */
Bytes cubin_of(const Bytes &blob)
{
    static const uint8_t magic[] = {0x7f, 'E', 'L', 'F'};
    const auto begin = std::search(blob.begin(), blob.end(), std::begin(magic), std::end(magic));
    require(blob.end() - begin > 16, "a blob without a cubin");
    return Bytes(begin, blob.end() - 16);
}

/* Returns the first of the program's kernel names. */
std::string kernel_of(ingot_program_t program)
{
    ingot_program_facts_t facts = INGOT_PROGRAM_FACTS_INIT;
    require_ingot(ingot_program_get_facts(program, &facts), "kernel names");
    return facts.kernel_names;
}

/* Loads one program in two ways: by Ingot from its blob, and by the driver from its cubin. If `with_kernel` is true,
 * both ways also get a kernel. */
class Loading
{
public:
    Loading(const Gpu &gpu, ingot_program_desc_t desc, Bytes blob, std::string kernel)
        : gpu_(gpu), desc_(desc), blob_(std::move(blob)), cubin_(cubin_of(blob_)), kernel_(std::move(kernel)),
          load_(gpu.driver.function<CUresult (*)(CUmodule *, const void *)>("cuModuleLoadData")),
          get_(gpu.driver.function<CUresult (*)(CUfunction *, CUmodule, const char *)>("cuModuleGetFunction"))
    {
    }

    size_t cubin_size() const { return cubin_.size(); }

    double by_ingot(bool with_kernel) const
    {
        ingot_program_t program = nullptr;
        ingot_kernel_t kernel = nullptr;
        const Clock::time_point start = Clock::now();
        ingot_status_t status = ingot_program_create_from_cache_blob(&program, desc_, blob_.size(), blob_.data());
        if (with_kernel && status == INGOT_SUCCESS)
            status = ingot_kernel_create(&kernel, program, 0, kernel_.c_str());
        const double time = microseconds_since(start);
        require_ingot(status, "create_from_cache_blob");
        ingot_kernel_release(kernel);
        ingot_program_release(program);
        return time;
    }

    double by_driver(bool with_kernel) const
    {
        CUmodule module = nullptr;
        CUfunction function = nullptr;
        const Clock::time_point start = Clock::now();
        CUresult result = load_(&module, cubin_.data());
        if (with_kernel && result == CUDA_SUCCESS)
            result = get_(&function, module, kernel_.c_str());
        const double time = microseconds_since(start);
        CudaDriver::check(result, "the driver's own load");
        gpu_.driver.call("cuModuleUnload", module);
        return time;
    }

    void measure(bool with_kernel, Sample &ingot, Sample &driver) const
    {
        by_ingot(with_kernel);
        const int rounds = std::clamp(static_cast<int>(3e5 / by_driver(with_kernel)), 21, 301);
        bench::take_turns(
            rounds, [&] { return by_ingot(with_kernel); }, [&] { return by_driver(with_kernel); }, ingot, driver);
    }

private:
    const Gpu &gpu_;
    ingot_program_desc_t desc_;
    Bytes blob_;
    Bytes cubin_;
    std::string kernel_;
    CUresult (*load_)(CUmodule *, const void *);
    CUresult (*get_)(CUfunction *, CUmodule, const char *);
};

double build(ingot_program_desc_t desc, ingot_program_t *program)
{
    const Clock::time_point start = Clock::now();
    const ingot_status_t status = ingot_program_get(program, desc, 0);
    const double time = microseconds_since(start);
    require_ingot(status, "build");
    return time;
}

void measure_load(const Gpu &gpu, const ProgramFile &file)
{
    ingot_program_desc_t desc =
        bench::describe(gpu.context, INGOT_SOURCE_CUDA_CPP, file, INGOT_PROGRAM_NO_MEMORY_CACHE);
    ingot_program_t program = nullptr;
    Sample built, ingot, driver, ingot_kernel, driver_kernel;
    for (int i = 0; i < 5; ++i) {
        ingot_program_release(program);
        program = nullptr;
        built.values.push_back(build(desc, &program));
    }
    const Loading loading(gpu, desc, blob_of(program), kernel_of(program));
    ingot_program_release(program);
    loading.measure(false, ingot, driver);
    loading.measure(true, ingot_kernel, driver_kernel);
    std::printf("load\t%s\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f\t%zu\n", file.name.c_str(), built.median(),
                ingot.median(), ingot.spread(), driver.median(), driver.spread(), ingot_kernel.median(),
                driver_kernel.median(), loading.cubin_size());
    std::fflush(stdout);
    ingot_program_desc_release(desc);
}

/* Compiles to PTX with the newest NVRTC that is installed. */
class Nvrtc
{
public:
    Nvrtc()
    {
        for (const char *name : {"libnvrtc.so.13", "libnvrtc.so.12"})
            library_ = library_ != nullptr ? library_ : dlopen(name, RTLD_LAZY);
        require(library_ != nullptr, "no libnvrtc");
    }

    std::string compile(const ProgramFile &file, const std::string &architecture) const
    {
        const std::string text = bench::text_of(file.path);
        const std::vector<std::string> words = options_of(file.options + " " + architecture);
        std::vector<const char *> options;
        for (const std::string &word : words)
            options.push_back(word.c_str());
        nvrtcProgram program = nullptr;
        size_t size = 0;
        call<decltype(&nvrtcCreateProgram)>("nvrtcCreateProgram", &program, text.c_str(), file.name.c_str(), 0, nullptr,
                                            nullptr);
        call<decltype(&nvrtcCompileProgram)>("nvrtcCompileProgram", program, static_cast<int>(options.size()),
                                             options.data());
        call<decltype(&nvrtcGetPTXSize)>("nvrtcGetPTXSize", program, &size);
        std::string ptx(size, '\0');
        call<decltype(&nvrtcGetPTX)>("nvrtcGetPTX", program, ptx.data());
        call<decltype(&nvrtcDestroyProgram)>("nvrtcDestroyProgram", &program);
        return ptx;
    }

private:
    /* Splits the options into words. "-I DIRECTORY" becomes one word, because NVRTC expects it so. */
    static std::vector<std::string> options_of(const std::string &text)
    {
        std::vector<std::string> words;
        std::istringstream stream(text);
        for (std::string word; stream >> word;) {
            if (!words.empty() && words.back() == "-I")
                words.back() += word;
            else
                words.push_back(word);
        }
        return words;
    }

    template <typename Function, typename... Arguments> void call(const char *name, Arguments... arguments) const
    {
        const auto function = reinterpret_cast<Function>(dlsym(library_, name));
        require(function != nullptr && function(arguments...) == NVRTC_SUCCESS, name);
    }

    void *library_ = nullptr;
};

std::string architecture_of(const Gpu &gpu)
{
    int major = 0, minor = 0;
    CUdevice device = 0;
    gpu.driver.call("cuCtxGetDevice", &device);
    gpu.driver.call("cuDeviceGetAttribute", &major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device);
    gpu.driver.call("cuDeviceGetAttribute", &minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device);
    return "--gpu-architecture=compute_" + std::to_string(major) + std::to_string(minor);
}

void measure_program(const startup::Setup &setup, const ProgramFile &file)
{
    const std::string source = bench::text_of(file.path);
    Sample built, loaded;
    std::vector<uint8_t> binary;
    for (int i = 0; i < 5; ++i) {
        const Clock::time_point start = Clock::now();
        cl_program program = startup::build_source(setup, source, file.options);
        built.values.push_back(microseconds_since(start));
        binary = startup::binary_of(program);
        clReleaseProgram(program);
    }
    for (int i = 0; i < 11; ++i) {
        const Clock::time_point start = Clock::now();
        cl_program program = startup::load_binary(setup, binary, file.options);
        loaded.values.push_back(microseconds_since(start));
        clReleaseProgram(program);
    }
    std::printf("own\t%s\t%.3f\t%.3f\t%zu\n", file.name.c_str(), built.median(), loaded.median(), binary.size());
    std::fflush(stdout);
}

} // namespace

void measure_loads(const std::string &set)
{
    const Gpu gpu;
    for (const ProgramFile &file : list_programs(set))
        measure_load(gpu, file);
}

void measure_ready(const std::string &set, const std::string &store_path)
{
    const Clock::time_point begin = Clock::now();
    const Gpu gpu;
    const double native_us = microseconds_since(begin);
    ingot_storage_t store = nullptr;
    ingot_persist_info_t info = INGOT_PERSIST_INFO_INIT;
    info.path = store_path.c_str();
    require_ingot(ingot_persist_open(&store, &info), "store");
    std::vector<ingot_program_desc_t> descs;
    for (const ProgramFile &file : list_programs(set))
        descs.push_back(bench::describe(gpu.context, INGOT_SOURCE_CUDA_CPP, file, 0));
    size_t id_size = 0;
    const uint8_t *id = nullptr;
    const Clock::time_point identity = Clock::now();
    require_ingot(ingot_program_desc_get_cache_blob_id(descs[0], &id_size, &id), "id");
    std::printf("start\t%.3f\t%.3f\n", native_us / 1000, microseconds_since(identity) / 1000);
    for (size_t i = 0; i < descs.size(); ++i) {
        ingot_program_t program = nullptr;
        ingot_origin_t origin = INGOT_ORIGIN_BUILD;
        const Clock::time_point start = Clock::now();
        require_ingot(ingot_persist_program_create(&program, descs[i], store, &origin), "program");
        std::printf("ready\t%zu\t%s\t%.3f\n", i, ingot_origin_name(origin), microseconds_since(start) / 1000);
        ingot_program_release(program);
    }
    require_ingot(ingot_persist_flush(store, nullptr, nullptr), "flush");
    for (ingot_program_desc_t desc : descs)
        ingot_program_desc_release(desc);
    ingot_storage_release(store);
}

void measure_own_cache(const std::string &set, const std::string &folder)
{
    setenv("CUDA_CACHE_DISABLE", "0", 1); /* must be set before the driver starts */
    setenv("CUDA_CACHE_PATH", folder.c_str(), 1);
    const Gpu gpu;
    const Nvrtc nvrtc;
    const auto load = gpu.driver.function<CUresult (*)(CUmodule *, const void *)>("cuModuleLoadData");
    const Clock::time_point start = Clock::now();
    for (const ProgramFile &file : list_programs(set)) {
        CUmodule module = nullptr;
        CudaDriver::check(load(&module, nvrtc.compile(file, architecture_of(gpu)).c_str()), "loading PTX");
    }
    std::printf("own-cache\t%.3f\n", microseconds_since(start) / 1000);
}

void measure_driver_alone(const std::string &set, const std::string &store)
{
    const startup::Setup setup(store);
    for (const ProgramFile &file : startup::list_programs(set, false))
        measure_program(setup, file);
}

} // namespace cuda_bench
