/* Tests options that belong to one SPIR-V module of a Level Zero program with several modules. */
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

extern "C" {
#include "backends/level_zero/backend.h"
#include "backends/level_zero/state.h"
}
#include "support/level_zero_driver.h"
#include "support/reference_context.h"
#include "support/spirv_file.h"

using Flags = std::vector<std::string>;
using Bytes = std::vector<uint8_t>;

static Flags flags_of_modules; /* the build flags of each module that the driver compiled or loaded */

constexpr char kProgramOption[] = "-ze-opt-greater-than-4GB-buffer-required";
constexpr char kSourceOption[] = "-ze-opt-disable";

static Context make_context()
{
    LevelZeroDriver &driver = LevelZeroDriver::get();
    ingot_context_t context = nullptr;
    EXPECT_EQ(INGOT_SUCCESS, ingot_level_zero_context_create(&context, driver.native(), driver.context(), 1,
                                                             driver.devices().data(), nullptr))
        << ingot_last_error_detail();
    return Context(context);
}

/* Describes a program of two modules, each with its own options. */
static Desc describe(const Context &context, const std::string &first, const std::string &second)
{
    const std::string modules[2] = {spirv_of("call_helper"), spirv_of("helper")};
    const char *const options[2] = {first.c_str(), second.c_str()};
    std::vector<Source> owned;
    std::vector<ingot_source_t> sources;
    for (int i = 0; i < 2; ++i) {
        ingot_source_info_t info = INGOT_SOURCE_INFO_INIT;
        info.kind = INGOT_SOURCE_SPIRV;
        info.bytes = modules[i].data();
        info.size = modules[i].size();
        info.compile_options = *options[i] != '\0' ? options[i] : nullptr;
        ingot_source_t source = nullptr;
        EXPECT_EQ(INGOT_SUCCESS, ingot_source_create(&source, &info)) << ingot_last_error_detail();
        owned.emplace_back(source);
        sources.push_back(source);
    }
    ingot_program_info_t info = INGOT_PROGRAM_INFO_INIT;
    info.sources = sources.data();
    info.source_count = sources.size();
    info.compile_options = kProgramOption;
    ingot_program_desc_t desc = nullptr;
    EXPECT_EQ(INGOT_SUCCESS, ingot_program_desc_create(&desc, context.get(), &info)) << ingot_last_error_detail();
    return Desc(desc);
}

static Bytes build_blob(const Desc &desc)
{
    ingot_program_t program = nullptr;
    EXPECT_EQ(INGOT_SUCCESS, ingot_program_get(&program, desc.get(), 0)) << ingot_last_error_detail();
    return blob_of(Program(program));
}

extern "C" {

/* Replaces the function of the loader: records the build flags, and then calls the loader's function. */
ze_result_t ZE_APICALL zeModuleCreate(ze_context_handle_t context, ze_device_handle_t device,
                                      const ze_module_desc_t *desc, ze_module_handle_t *module,
                                      ze_module_build_log_handle_t *log)
{
    static const auto next = reinterpret_cast<decltype(&zeModuleCreate)>(dlsym(RTLD_NEXT, "zeModuleCreate"));
    if (desc->pNext == nullptr) {
        flags_of_modules.emplace_back(desc->pBuildFlags);
    } else {
        const auto *program = static_cast<const ze_module_program_exp_desc_t *>(desc->pNext);
        flags_of_modules.insert(flags_of_modules.end(), program->pBuildFlags, program->pBuildFlags + program->count);
    }
    return next(context, device, desc, module, log);
}

} // extern "C"

TEST(LevelZeroSettings, ReachTheDriverWithTheirModuleAlone)
{
    for (const bool links_programs : {true, false}) {
        const Context context = make_context();
        auto *state = static_cast<level_zero_state *>(ingot_context_get_backend_state(context.get(), &level_zero_ops));
        state->links_programs = links_programs;
        const std::string more = links_programs ? "" : " -library-compilation";
        flags_of_modules.clear();
        build_blob(describe(context, kSourceOption, ""));
        EXPECT_EQ((Flags{std::string(kProgramOption) + " " + kSourceOption + more, kProgramOption + more}),
                  flags_of_modules);
        flags_of_modules.clear();
        build_blob(describe(context, "", kSourceOption));
        EXPECT_EQ((Flags{kProgramOption + more, std::string(kProgramOption) + " " + kSourceOption + more}),
                  flags_of_modules);
    }
}

TEST(LevelZeroSettings, ChangeWhatTheDriverCompiles)
{
    const auto binary_of = [](const char *first, const char *second) {
        const Context context = make_context();
        const Desc desc = describe(context, first, second);
        ingot_program_t program = nullptr;
        EXPECT_EQ(INGOT_SUCCESS, ingot_program_get(&program, desc.get(), 0));
        const Program owned(program);
        ze_module_handle_t module = nullptr;
        size_t size = 0;
        EXPECT_EQ(INGOT_SUCCESS, ingot_level_zero_program_get_native(program, 0, &module));
        EXPECT_EQ(ZE_RESULT_SUCCESS, zeModuleGetNativeBinary(module, &size, nullptr));
        Bytes binary(size);
        EXPECT_EQ(ZE_RESULT_SUCCESS, zeModuleGetNativeBinary(module, &size, binary.data()));
        return binary;
    };
    const Bytes plain = binary_of("", "");
    EXPECT_EQ(plain, binary_of("", ""));
    EXPECT_NE(plain, binary_of(kSourceOption, ""));
    EXPECT_NE(plain, binary_of("", kSourceOption));
}
