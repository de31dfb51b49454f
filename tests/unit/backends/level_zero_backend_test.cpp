/*
 * level_zero_backend_test.cpp - tests the parts of the Level Zero backend that the conformance suite does not cover:
 * its public header, its table of operations, dynamic linking, and binaries of Intel's offline compiler.
 */
#include <ingot/private/program.h>

#include <algorithm>

extern "C" {
#include "backends/level_zero/backend.h"
}
#include "support/child_process.h"
#include "support/failing_allocator.h"
#include "support/level_zero_driver.h"
#include "support/objects.h"
#include "support/sink.h"
#include "support/spirv_file.h"
#include "support/spirv_module.h"

namespace
{

using Names = std::vector<std::string>;

LevelZeroDriver &driver()
{
    return LevelZeroDriver::get();
}

Context make(const ingot_context_info_t *info = nullptr, ze_context_handle_t native = driver().context(),
             uint32_t device_count = 0, const ze_device_handle_t *devices = nullptr)
{
    ingot_context_t context = nullptr;
    EXPECT_EQ(INGOT_SUCCESS,
              ingot_level_zero_context_create(&context, driver().native(), native, device_count, devices, info))
        << ingot_last_error_detail();
    return Context(context);
}

ingot_status_t create(const std::vector<ze_device_handle_t> &devices)
{
    ingot_context_t context = nullptr;
    const ingot_status_t status =
        ingot_level_zero_context_create(&context, driver().native(), driver().context(),
                                        static_cast<uint32_t>(devices.size()), devices.data(), nullptr);
    EXPECT_EQ(status == INGOT_SUCCESS, context != nullptr);
    ingot_context_release(context);
    return status;
}

/* Calls the backend's table of operations directly, with a context that Ingot made. The core would not make such
 * calls. */
struct Table {
    const Context context;
    level_zero_state *state;
    std::vector<std::string> modules;
    std::vector<ingot_source_view_t> sources;
    ingot_build_request_t request{};
    const uint32_t device = 0;
    Sink log;

    explicit Table(const Names &names, const ingot_context_info_t *info = nullptr) : context(make(info))
    {
        state = static_cast<level_zero_state *>(ingot_context_get_backend_state(context.get(), &level_zero_ops));
        for (const std::string &name : names)
            modules.push_back(spirv_of(name));
        for (const std::string &module : modules)
            sources.push_back({INGOT_SOURCE_SPIRV, module.size(), module.data(), ""});
        request.struct_size = sizeof(request);
        request.sources = sources.data();
        request.source_count = sources.size();
        request.compile_options = "";
        request.link_options = "";
    }

    ingot_status_t build(void **program)
    {
        return level_zero_ops.build(state, &request, 1, &device, log.get(), program);
    }
    ingot_status_t load(const std::string &bytes, void **program)
    {
        const ingot_binary_t binary = {bytes.size(), reinterpret_cast<const uint8_t *>(bytes.data())};
        return level_zero_ops.load(state, &request, 1, &device, &binary, program);
    }
    std::string binary_of(void *program)
    {
        Sink binary;
        EXPECT_EQ(INGOT_SUCCESS, level_zero_ops.get_binary(state, program, 0, binary.get()));
        return binary.text();
    }
    Names names_of(void *program)
    {
        Sink sink;
        Names names;
        EXPECT_EQ(INGOT_SUCCESS, level_zero_ops.get_kernel_names(state, program, sink.get()));
        const std::string text = sink.text();
        for (size_t at = 0; at < text.size(); at += names.back().size() + 1)
            names.emplace_back(text.c_str() + at);
        std::sort(names.begin(), names.end());
        return names;
    }
    ingot_status_t try_kernel(void *program, const char *name)
    {
        void *kernel = nullptr;
        const ingot_status_t status = level_zero_ops.create_kernel(state, program, 0, name, &kernel);
        if (status == INGOT_SUCCESS)
            level_zero_ops.destroy_kernel(state, kernel);
        return status;
    }
    void destroy(void *program) { level_zero_ops.destroy_program(state, program); }
};

/* Makes a program again and again. In the first try, the allocator's next request fails, in the second try the one
 * after it, and so on, until the program is made. */
template <typename Make> void expect_failures_in(FailingAllocator &allocator, Table &table, const Make &make_program)
{
    const size_t live = allocator.live_count();
    for (size_t n = 0;; ++n) {
        const size_t requests = allocator.requests();
        void *program = nullptr;
        allocator.fail_from_now(n);
        const ingot_status_t status = make_program(&program);
        allocator.stop_failing();
        if (status == INGOT_SUCCESS)
            table.destroy(program);
        ASSERT_EQ(live, allocator.live_count()) << n;
        if (status == INGOT_SUCCESS) {
            EXPECT_EQ(n, allocator.requests() - requests);
            return;
        }
        ASSERT_EQ(INGOT_OUT_OF_MEMORY, status) << n;
    }
}

std::string read_file(const std::string &path)
{
    std::ifstream file(path, std::ios::binary);
    EXPECT_TRUE(file.good()) << path;
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/* Returns what the offline compiler makes of a module for a product. */
std::string compiled_offline(const std::string &name, const std::string &product, const std::string &options)
{
    const std::string output = name + "-" + product + ".ocloc";
    std::vector<std::string> arguments{OCLOC,          "compile", "-q",
                                       "-spirv_input", "-file",   std::string(SPIRV_DIR) + "/" + name + ".spv",
                                       "-device",      product,   "-output_no_suffix",
                                       "-output",      output};
    if (!options.empty())
        arguments.insert(arguments.end(), {"-options", options});
    child_process::Child child(arguments, output + ".out");
    EXPECT_EQ(0, child.wait()) << child.output();
    return read_file(output);
}

std::string product()
{
    return getenv("ProductFamilyOverride");
}

Desc describe(const Context &context, const std::string &module, const char *options = nullptr)
{
    return describe_source(context.get(), make_source(module, nullptr, INGOT_SOURCE_SPIRV).get(), options);
}

Program build(const Context &context)
{
    return create_program(describe(context, spirv_of("two_kernels")));
}

} // namespace

TEST(LevelZeroContextCreate, TakesAllDevicesOfTheDriverWhenNoneIsNamed)
{
    const Context all = make();
    const auto count = static_cast<uint32_t>(driver().devices().size());
    ingot_device_info_t info = INGOT_DEVICE_INFO_INIT;
    EXPECT_EQ(INGOT_SUCCESS, ingot_context_get_device_info(all.get(), count - 1, &info));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_context_get_device_info(all.get(), count, &info));
}

TEST(LevelZeroContextCreate, TakesSomeDevicesInAnyOrderButNoneTwice)
{
    const auto &devices = driver().devices();
    EXPECT_EQ(INGOT_SUCCESS, create({devices[1]}));
    EXPECT_EQ(INGOT_SUCCESS, create({devices[1], devices[0]}));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, create({devices[0], devices[0]}));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, create({devices[0], nullptr}));
}

TEST(LevelZeroContextCreate, RefusesNull)
{
    ingot_context_t context = nullptr;
    const ze_driver_handle_t native = driver().native();
    const ze_context_handle_t ze_context = driver().context();
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS,
              ingot_level_zero_context_create(nullptr, native, ze_context, 0, nullptr, nullptr));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS,
              ingot_level_zero_context_create(&context, nullptr, ze_context, 0, nullptr, nullptr));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_level_zero_context_create(&context, native, nullptr, 0, nullptr, nullptr));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS,
              ingot_level_zero_context_create(&context, native, ze_context, 1, nullptr, nullptr));
    EXPECT_EQ(nullptr, context);
}

TEST(LevelZeroContextCreate, FailsCleanlyAtEveryAllocation)
{
    expect_clean_failures([](const ingot_allocator_t *allocator) {
        ingot_context_info_t info = INGOT_CONTEXT_INFO_INIT;
        info.allocator = allocator;
        ingot_context_t context = nullptr;
        const ingot_status_t status =
            ingot_level_zero_context_create(&context, driver().native(), driver().context(), 0, nullptr, &info);
        ingot_context_release(context);
        return status;
    });
}

TEST(LevelZeroNative, GivesTheModuleOfEachDeviceAndTheKernelBack)
{
    const Context context = make();
    const Program owned = build(context);
    const Kernel owned_kernel = create_kernel(owned, "twice", 1);
    ingot_program_t program = owned.get();
    ingot_kernel_t kernel = owned_kernel.get();
    ze_module_handle_t first = nullptr;
    ze_module_handle_t second = nullptr;
    ze_kernel_handle_t native = nullptr;
    ASSERT_EQ(INGOT_SUCCESS, ingot_level_zero_program_get_native(program, 0, &first));
    ASSERT_EQ(INGOT_SUCCESS, ingot_level_zero_program_get_native(program, 1, &second));
    ASSERT_EQ(INGOT_SUCCESS, ingot_level_zero_kernel_get_native(kernel, &native));
    EXPECT_NE(first, second);
    char name[16] = "";
    size_t size = sizeof(name);
    EXPECT_EQ(ZE_RESULT_SUCCESS, zeKernelGetName(native, &size, name));
    EXPECT_STREQ("twice", name);
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_level_zero_program_get_native(program, 2, &first));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_level_zero_program_get_native(nullptr, 0, &first));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_level_zero_program_get_native(program, 0, nullptr));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_level_zero_kernel_get_native(nullptr, &native));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_level_zero_kernel_get_native(kernel, nullptr));
}

TEST(LevelZeroErrors, NamesEveryCodeAndTellsLackOfMemory)
{
    EXPECT_STREQ("ZE_RESULT_ERROR_INVALID_NATIVE_BINARY",
                 level_zero_result_name(ZE_RESULT_ERROR_INVALID_NATIVE_BINARY));
    EXPECT_STREQ("unknown result", level_zero_result_name(static_cast<ze_result_t>(0x7fff0000)));
    EXPECT_EQ(INGOT_OUT_OF_MEMORY,
              level_zero_fail(INGOT_BACKEND_ERROR, "zeCall", ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY));
    EXPECT_EQ(INGOT_BACKEND_ERROR, level_zero_fail(INGOT_BACKEND_ERROR, "zeCall", ZE_RESULT_ERROR_DEVICE_LOST));
    EXPECT_STREQ("zeCall: ZE_RESULT_ERROR_DEVICE_LOST (0x70000001)", ingot_last_error_detail());
    EXPECT_EQ(static_cast<int64_t>(ZE_RESULT_ERROR_DEVICE_LOST), ingot_last_error_code());
}

/* Returns the machine code of a module that is compiled with `options`. */
static std::string code_with(const char *options)
{
    const Context context = make();
    const Program program = create_program(describe(context, spirv_of("two_kernels"), options));
    Sink binary;
    if (program != nullptr) {
        EXPECT_EQ(INGOT_SUCCESS,
                  level_zero_ops.get_binary(ingot_context_get_backend_state(context.get(), &level_zero_ops),
                                            ingot_program_get_backend_program(program.get(), &level_zero_ops), 0,
                                            binary.get()));
    }
    return binary.text();
}

TEST(LevelZeroBuild, CompilesWithTheProgramsOptions)
{
    EXPECT_NE(code_with(nullptr), code_with("-ze-opt-disable"));
}

TEST(LevelZeroBuild, FailsCleanlyAtEveryAllocation)
{
    FailingAllocator allocator;
    ingot_context_info_t info = INGOT_CONTEXT_INFO_INIT;
    info.allocator = allocator.table();
    Table table({"call_helper", "helper"}, &info);
    expect_failures_in(allocator, table, [&](void **program) { return table.build(program); });
}

/* If a driver lacks the extension that links modules into one, each source becomes a separate module. */
TEST(LevelZeroDynamicLinking, MakesAProgramOfSeveralSourcesAndItsBinaryMakesItAgain)
{
    Table table({"call_helper", "helper", "two_kernels"});
    table.state->links_programs = 0;
    void *built = nullptr;
    ASSERT_EQ(INGOT_SUCCESS, table.build(&built)) << ingot_last_error_detail();
    EXPECT_EQ((Names{"call", "square", "twice"}), table.names_of(built));
    EXPECT_EQ(INGOT_SUCCESS, table.try_kernel(built, "call"));
    EXPECT_EQ(INGOT_SUCCESS, table.try_kernel(built, "square"));
    EXPECT_EQ(INGOT_NOT_FOUND, table.try_kernel(built, "thrice"));
    const std::string binary = table.binary_of(built);
    void *loaded = nullptr;
    ASSERT_EQ(INGOT_SUCCESS, table.load(binary, &loaded)) << ingot_last_error_detail();
    EXPECT_EQ(table.names_of(built), table.names_of(loaded));
    EXPECT_EQ(INGOT_SUCCESS, table.try_kernel(loaded, "call"));
    EXPECT_EQ(binary, table.binary_of(loaded));
    table.destroy(built);
    table.destroy(loaded);
}

TEST(LevelZeroDynamicLinking, RefusesAFunctionThatNoModuleHas)
{
    Table table({"call_helper", "other"});
    table.state->links_programs = 0;
    void *program = nullptr;
    EXPECT_EQ(INGOT_BUILD_FAILED, table.build(&program));
    EXPECT_EQ(nullptr, program);
    EXPECT_NE(std::string::npos, table.log.text().find("helper")) << table.log.text();
}

TEST(LevelZeroLoad, RefusesPartsThatDoNotAddUpBeforeTheDriverSeesThem)
{
    Table table({"call_helper", "helper"});
    table.state->links_programs = 0;
    void *program = nullptr;
    ASSERT_EQ(INGOT_SUCCESS, table.build(&program));
    const std::string sound = table.binary_of(program);
    table.destroy(program);
    const auto with_number = [&](size_t at, uint64_t number) {
        std::string bytes = sound;
        for (size_t i = 0; i < 8; ++i)
            bytes[at + i] = static_cast<char>(number >> (8 * i));
        return bytes;
    };
    for (const std::string &bytes :
         {with_number(8, UINT64_MAX), with_number(8, uint64_t{1} << 61), with_number(8, 0), with_number(8, 1),
          with_number(16, UINT64_MAX), with_number(24, uint64_t{1} << 63), with_number(24, 0),
          sound.substr(0, sound.size() - 1), sound.substr(0, 20), sound + "1"}) {
        EXPECT_EQ(INGOT_BLOB_REJECTED, table.load(bytes, &program)) << ingot_last_error_detail();
        EXPECT_TRUE(last_error_has("do not add up")) << ingot_last_error_detail();
    }
}

TEST(LevelZeroLoad, TakesTheOfflineCompilersBinaryOfTheSameModuleAndOptions)
{
    for (const char *options : {"", "-cl-fast-relaxed-math"}) {
        Table table({"two_kernels"});
        table.request.compile_options = options;
        void *built = nullptr;
        void *loaded = nullptr;
        ASSERT_EQ(INGOT_SUCCESS, table.build(&built)) << table.log.text();
        ASSERT_EQ(INGOT_SUCCESS, table.load(compiled_offline("two_kernels", product(), options), &loaded))
            << ingot_last_error_detail();
        EXPECT_EQ((Names{"square", "twice"}), table.names_of(built));
        EXPECT_EQ(table.names_of(built), table.names_of(loaded));
        EXPECT_EQ(INGOT_SUCCESS, table.try_kernel(loaded, "square")) << ingot_last_error_detail();
        table.destroy(built);
        table.destroy(loaded);
    }
}

TEST(LevelZeroLoad, FailsCleanlyAtEveryAllocation)
{
    FailingAllocator allocator;
    ingot_context_info_t info = INGOT_CONTEXT_INFO_INIT;
    info.allocator = allocator.table();
    Table table({"two_kernels"}, &info);
    void *program = nullptr;
    ASSERT_EQ(INGOT_SUCCESS, table.build(&program));
    const std::string binary = table.binary_of(program);
    table.destroy(program);
    expect_failures_in(allocator, table, [&](void **loaded) { return table.load(binary, loaded); });
}
