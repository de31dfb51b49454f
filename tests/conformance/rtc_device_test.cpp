/*
 * rtc_device_test.cpp - tests what only CUDA and HIP have: name expressions, and a module for each device.
 */
#include "conformance/rtc_device.h"

#include "conformance/objects.h"

using namespace conformance;

static RtcDevice &device()
{
    return dynamic_cast<RtcDevice &>(device_under_test());
}

static Desc describe_template(const Context &context, const std::vector<const char *> &expressions)
{
    ProgramText text{{{device().kind(),
                       "namespace ns { template <typename T> __global__ void add(T *x) { x[threadIdx.x] += T(30); }\n"
                       "__constant__ int table[4]; }\n"
                       "extern \"C\" __global__ void plain(int *x) { x[threadIdx.x] += ns::table[0]; }\n"}}};
    text.source_name = "template.cpp";
    text.name_expressions = expressions;
    return describe(context, text);
}

static void expect_found_by_expression(const Context &context, const Program &program)
{
    const Kernel by_expression = create_kernel(program, "ns::add<int>");
    const Kernel by_name = create_kernel(program, "_ZN2ns3addIiEEvPT_");
    EXPECT_NE(nullptr, device().native_kernel(by_name.get()));
    EXPECT_EQ(device().native_kernel(by_expression.get()), device().native_kernel(by_name.get()));
    const char *lowered_name = nullptr;
    ASSERT_EQ(INGOT_SUCCESS, device().lowered_name(program.get(), "&ns::table", &lowered_name));
    EXPECT_STREQ("_ZN2ns5tableE", lowered_name);
    EXPECT_EQ(INGOT_NOT_FOUND, device().lowered_name(program.get(), "ns::add<char>", &lowered_name));
    if (device().executes()) {
        EXPECT_EQ(42, device().run(context.get(), by_expression.get(), 12, 8));
    }
}

TEST(NameExpressions, FindKernelsAfterBuildingAndAfterLoading)
{
    const std::vector<const char *> expressions{"plain", "ns::add<int>", "&ns::table"};
    const Context first = make_context();
    const Program built = create_program(describe_template(first, expressions));
    EXPECT_EQ((std::vector<std::string>{"_ZN2ns3addIiEEvPT_", "ns::add<int>", "plain"}), kernel_names_of(built));
    expect_found_by_expression(first, built);

    const Context second = make_context();
    const Program loaded = load(describe_template(second, expressions), blob_of(built));
    ASSERT_NE(nullptr, loaded);
    EXPECT_EQ(0u, stats_of(second).builds);
    EXPECT_EQ(kernel_names_of(built), kernel_names_of(loaded));
    expect_found_by_expression(second, loaded);
    EXPECT_EQ(blob_of(built), blob_of(loaded));
}

TEST(NameExpressions, MakeAnotherProgram)
{
    const Context context = make_context();
    const Program one = create_program(describe_template(context, {"ns::add<int>"}));
    EXPECT_EQ(INGOT_BLOB_MISMATCH, load_program(describe_template(context, {"ns::add<float>"}), blob_of(one)));
}

TEST(Modules, AreOneForEachDeviceOfAContext)
{
    if (!device().has_equal_device())
        return;
    const Context both = make_context({0, device().equal_device()});
    const Program program = create_program(describe(both, device().two_kernels()));
    EXPECT_NE(device().native_module(program.get(), 0), device().native_module(program.get(), 1));
    EXPECT_EQ(1u, stats_of(both).builds);
}
