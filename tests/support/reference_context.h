/*
 * reference_context.h - contexts of the reference backend, and programs of it.
 */
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <ingot/ingot.h>

#include "support/objects.h"
#include "support/reference_backend.h"

/* The configuration of a reference context; the defaults are one device and no environment. */
struct ReferenceDevice {
    std::vector<const char *> targets{"alpha"};
    const char *driver_version = "1";
    reference_counts_t counts{};
    ingot_status_t (*hook)(void *, const char *) = nullptr;
    void *hook_user = nullptr;
    std::function<ingot_status_t(const std::string &operation)> before; /* a hook, unless `hook` is set */
    bool no_binaries = false;
    bool name_expressions = false;
    bool generates_code_at_launch = false;
    uint32_t launched_bytes = 0;
    const char *name = nullptr; /* of the backend */

    Context make(ingot_context_info_t info = INGOT_CONTEXT_INFO_INIT, bool use_environment = false)
    {
        reference_info_t reference{};
        reference.device_count = static_cast<uint32_t>(targets.size());
        reference.targets = targets.data();
        reference.driver_version = driver_version;
        reference.counts = &counts;
        reference.hook = hook != nullptr ? hook : call_before;
        reference.hook_user = hook != nullptr ? hook_user : this;
        reference.no_binaries = no_binaries;
        reference.name_expressions = name_expressions;
        reference.generates_code_at_launch = generates_code_at_launch;
        reference.launched_bytes = &launched_bytes;
        reference.name = name;
        if (!use_environment)
            info.flags |= INGOT_CONTEXT_IGNORE_ENVIRONMENT;
        ingot_context_t context = nullptr;
        EXPECT_EQ(INGOT_SUCCESS, reference_context_create(&context, &reference, &info)) << ingot_last_error_detail();
        return Context(context);
    }
    Context make_with(const ingot_allocator_t *allocator)
    {
        ingot_context_info_t info = INGOT_CONTEXT_INFO_INIT;
        info.allocator = allocator;
        return make(info);
    }
    Context make_limited(const ingot_cache_capacity_t &capacity)
    {
        ingot_context_info_t info = INGOT_CONTEXT_INFO_INIT;
        info.cache_capacity = &capacity;
        return make(info);
    }

    static ingot_status_t call_before(void *user, const char *operation)
    {
        const auto *self = static_cast<const ReferenceDevice *>(user);
        return self->before ? self->before(operation) : INGOT_SUCCESS;
    }
    /* Does the work before each call of an operation. */
    void at(const std::string &called, const std::function<void()> &work)
    {
        before = [=](const std::string &operation) {
            if (operation == called)
                work();
            return INGOT_SUCCESS;
        };
    }
    /* Makes each call of an operation fail with this status. */
    void fail(const std::string &failing, ingot_status_t status)
    {
        before = [=](const std::string &operation) { return operation == failing ? status : INGOT_SUCCESS; };
    }
};

/* Everything that can describe a program; all members are optional. */
struct ProgramText {
    std::vector<std::string> sources{"kernel twice x 2 *\nkernel square x x *\n"};
    std::vector<std::pair<std::string, std::string>> headers{};
    std::string compile_options{};
    std::string link_options{};
    std::vector<std::pair<uint32_t, int64_t>> constants{};
    std::vector<uint32_t> devices{};
    const char *group = nullptr;
    uint32_t flags = 0;
    std::vector<const char *> name_expressions{};
    std::string source_name = "test"; /* of each source */
    ingot_source_kind_t kind = REFERENCE_SOURCE_KIND;

    ingot_status_t try_make(ingot_context_t context, ingot_program_desc_t *desc) const
    {
        std::vector<Source> kept;
        std::vector<ingot_source_t> source_handles;
        std::vector<ingot_source_t> header_handles;
        std::vector<ingot_spec_constant_t> spec_constants;
        for (const auto &text : sources) {
            kept.push_back(make_source(text, source_name.c_str(), kind));
            source_handles.push_back(kept.back().get());
        }
        for (const auto &[name, text] : headers) {
            kept.push_back(make_source(text, name.c_str(), INGOT_SOURCE_HEADER));
            header_handles.push_back(kept.back().get());
        }
        for (const auto &[id, value] : constants)
            spec_constants.push_back({id, 8, &value});
        ingot_program_info_t info = INGOT_PROGRAM_INFO_INIT;
        info.sources = source_handles.data();
        info.source_count = source_handles.size();
        info.headers = header_handles.data();
        info.header_count = header_handles.size();
        info.compile_options = compile_options.c_str();
        info.link_options = link_options.c_str();
        info.spec_constants = spec_constants.data();
        info.spec_constant_count = spec_constants.size();
        info.device_indices = devices.empty() ? nullptr : devices.data();
        info.device_count = devices.size();
        info.group = group;
        info.flags = flags;
        info.name_expressions = name_expressions.data();
        info.name_expression_count = name_expressions.size();
        return ingot_program_desc_create(desc, context, &info);
    }

    Desc make(const Context &context) const
    {
        ingot_program_desc_t desc = nullptr;
        EXPECT_EQ(INGOT_SUCCESS, try_make(context.get(), &desc)) << ingot_last_error_detail();
        return Desc(desc);
    }
};

inline int64_t run(const Kernel &kernel, int64_t x)
{
    int64_t result = 0;
    EXPECT_EQ(INGOT_SUCCESS, reference_kernel_run(kernel.get(), x, &result)) << ingot_last_error_detail();
    return result;
}

inline bool is_from_cache_blob(const_ingot_program_t program)
{
    ingot_program_facts_t facts = INGOT_PROGRAM_FACTS_INIT;
    EXPECT_EQ(INGOT_SUCCESS, ingot_program_get_facts(program, &facts));
    return facts.is_from_cache_blob != 0;
}
