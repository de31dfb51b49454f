/*
 * opencl_subdevice_test.cpp - tests that a context of sub-devices uses the binaries of the parent device, so that no
 * compiler runs for it.
 */
#include "conformance/objects.h"
#include "support/opencl_platform.h"

using namespace conformance;

namespace
{

/* A sub-device with one compute unit of the platform's first device. */
class SubDevice : NotCopied
{
public:
    SubDevice()
    {
        const cl_device_partition_property properties[] = {CL_DEVICE_PARTITION_BY_COUNTS, 1,
                                                           CL_DEVICE_PARTITION_BY_COUNTS_LIST_END, 0};
        cl_uint count = 0;
        error_ = clCreateSubDevices(OpenclPlatform::get().devices()[0], properties, 1, &id_, &count);
    }
    ~SubDevice()
    {
        if (error_ == CL_SUCCESS)
            clReleaseDevice(id_);
    }
    cl_device_id id() const { return id_; }
    cl_int error() const { return error_; }

private:
    cl_device_id id_ = nullptr;
    cl_int error_ = CL_SUCCESS;
};

/* Makes a context for these devices of the native context or, if there are none, for all that it reports. For a context
 * of sub-devices, PoCL reports the parent device. */
Context context_of(const OpenclContext &native, const std::vector<cl_device_id> &named)
{
    ingot_context_t context = nullptr;
    EXPECT_EQ(INGOT_SUCCESS, ingot_opencl_context_create(&context, native.native(), static_cast<uint32_t>(named.size()),
                                                         named.empty() ? nullptr : named.data(), nullptr))
        << ingot_last_error_detail();
    return Context(context);
}

} // namespace

TEST(OpenclSubDevice, SharesBinariesWithItsParentWhereTheDriverMakesAny)
{
    const SubDevice part;
    if (!OpenclPlatform::get().is_pocl()) {
        ASSERT_NE(CL_SUCCESS, part.error()) << "the simulated device of one tile has parts: test them";
        return;
    }
    ASSERT_EQ(CL_SUCCESS, part.error());
    const cl_device_id parent = OpenclPlatform::get().devices()[0];
    const ProgramText text = device_under_test().two_kernels();
    const Bytes blob = blob_of(create_program(describe(make_context(), text)));

    using Devices = std::vector<cl_device_id>;
    for (const auto &[devices, named] : std::vector<std::pair<Devices, Devices>>{
             {{part.id()}, {}}, {{part.id(), parent}, {}}, {{part.id()}, {part.id()}}}) {
        const OpenclContext native(devices);
        const Context context = context_of(native, named);
        const Desc desc = describe(context, text);
        EXPECT_EQ(id_of(text), id_of(desc));
        const Program loaded = load(desc, blob);
        ASSERT_NE(nullptr, loaded);
        EXPECT_EQ(42, device_under_test().run(context.get(), create_kernel(loaded, "twice").get(), 21));
        EXPECT_EQ(0u, stats_of(context).builds);
    }
    const OpenclContext other({OpenclPlatform::get().devices()[1]});
    const cl_device_id id = part.id();
    ingot_context_t none = nullptr;
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_opencl_context_create(&none, other.native(), 1, &id, nullptr));
}
