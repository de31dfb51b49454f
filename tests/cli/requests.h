/*
 * requests.h - records requests of real programs for the OpenCL device of the test, and runs the tool that builds them.
 */
#pragma once

#include "cli/tool.h"
#include "support/opencl_platform.h"
#include "support/recorded_requests.h"

/* The texts and options of a program in OpenCL C. */
struct OpenclText {
    std::string source;
    std::string name{"test.cl"};
    std::string options{};
    std::vector<std::pair<std::string, std::string>> headers{};

    Desc make(const Context &context) const
    {
        ProgramText text{{source}, headers, options};
        text.source_name = name;
        text.kind = INGOT_SOURCE_OPENCL_C;
        return text.make(context);
    }
};

/* Returns a small program that is different for each number. */
inline OpenclText numbered_text(int number)
{
    const std::string text = std::to_string(number);
    return {"kernel void k" + text + "(global int *x) { x[get_global_id(0)] *= " + text + "; }\n", "k" + text + ".cl"};
}

/* Texts with options, and with a header. */
inline std::vector<OpenclText> application_texts()
{
    return {numbered_text(1),
            {"kernel void with(global int *x) { x[0] = N; }\n", "dir/with.cl", "-DN=7 -cl-fast-relaxed-math"},
            {"#include \"amount.h\"\nkernel void head(global int *x) { x[0] = AMOUNT; }\n",
             "head.cl",
             "",
             {{"amount.h", "#define AMOUNT 3\n"}}}};
}

/* Creates a context for the first device. */
inline Context make_opencl_context()
{
    const OpenclContext native({OpenclPlatform::get().devices()[0]});
    ingot_context_info_t info = INGOT_CONTEXT_INFO_INIT;
    info.flags = INGOT_CONTEXT_IGNORE_ENVIRONMENT;
    ingot_context_t context = nullptr;
    EXPECT_EQ(INGOT_SUCCESS, ingot_opencl_context_create(&context, native.native(), 0, nullptr, &info))
        << ingot_last_error_detail();
    return Context(context);
}

class RequestTest : public CliTest
{
protected:
    RequestTest()
    {
        for (const auto &[name, value] : one_device())
            setenv(name.c_str(), value.c_str(), 1);
    }
    /* Records programs in a store, without compiling them. */
    static void record(const fs::path &path, const std::vector<OpenclText> &texts, const char *name_space = nullptr)
    {
        const Context context = make_opencl_context();
        const store_fixture::Store store = recorded_requests::open_keeping_store(path.string(), name_space);
        for (const OpenclText &text : texts)
            ingot_persist_record_request(store.get(), text.make(context).get(), nullptr);
    }
    /* Runs the tool, which sees one device of its driver. */
    Result tool(const std::vector<std::string> &arguments) const { return CliTest::tool(arguments, one_device()); }
    static std::map<std::string, std::string> one_device()
    {
        return {{"POCL_DEVICES", "pthread"}, {"CreateMultipleRootDevices", "1"}};
    }
    /* Runs `ingot build` on the requests, into the store. */
    Result build(std::vector<std::string> options = {}) const
    {
        options.insert(options.begin(), {"build", requests().string(), "--into", root().string()});
        return tool(options);
    }
    /* Does the same with --json, and returns the value of a Python expression, in which j is what the tool prints. */
    std::string build_json(const std::string &options, const std::string &expression) const
    {
        return json("build " + requests().string() + " " + options, expression);
    }
    fs::path requests() const { return scratch() / "requests"; }
};
