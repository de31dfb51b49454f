/*
 * nvidia_linker_test.cpp - tests how the OpenCL backend makes machine code from PTX, with the toolkit's real linker
 * and without a GPU.
 */
#include <string>

#include "support/failing_allocator.h"

extern "C" {
#include "backends/opencl/vendor/nvidia_linker.h"
}

/* Returns PTX like that of NVIDIA's OpenCL, in which textures and samplers are independent of each other. */
static std::string ptx_of(const std::string &body)
{
    return ".version 8.0\n.target sm_80, texmode_independent\n.address_size 64\n"
           ".entry scale(.param .u64 .ptr .global .align 4 scale_param_0)\n.reqntid 64, 1, 1\n{\n" +
           body + "ret;\n}\n";
}

static ingot_status_t link(const std::string &ptx, const ingot_allocator_t *allocator, unsigned major,
                           std::string *native)
{
    size_t size = 0;
    void *bytes = nullptr;
    const ingot_status_t status = nvidia_link_ptx(allocator, major, 90, ptx.size(), ptx.c_str(), &size, &bytes);
    EXPECT_EQ(status == INGOT_SUCCESS, bytes != nullptr);
    if (bytes != nullptr)
        native->assign(static_cast<const char *>(bytes), size);
    ingot_deallocate(allocator, bytes, size);
    return status;
}

const ingot_allocator_t kDefault{nullptr, nullptr, nullptr};

TEST(NvidiaLinker, MakesMachineCodeOfPtx)
{
    std::string native;
    ASSERT_EQ(INGOT_SUCCESS, link(ptx_of(""), &kDefault, 13, &native)) << ingot_last_error_detail();
    EXPECT_EQ(std::string("\x7f"
                          "ELF"),
              native.substr(0, 4));
    EXPECT_NE(std::string::npos, native.find("scale"));
    EXPECT_EQ(90, native[49]) << "the architecture, in the ELF header's flags";
}

TEST(NvidiaLinker, RefusesWhatIsNoPtx)
{
    std::string native;
    EXPECT_EQ(INGOT_BACKEND_ERROR, link(ptx_of("frob.s32 a;\n"), &kDefault, 13, &native));
    EXPECT_EQ(INGOT_BACKEND_ERROR, link("no PTX", &kDefault, 13, &native));
    EXPECT_NE(nullptr, strstr(ingot_last_error_detail(), "nvJitLink")) << ingot_last_error_detail();
}

TEST(NvidiaLinker, IsUnimplementedWhereTheDriverIsOlderThanEveryLinker)
{
    std::string native;
    EXPECT_EQ(INGOT_UNIMPLEMENTED, link(ptx_of(""), &kDefault, 11, &native));
    EXPECT_EQ(INGOT_UNIMPLEMENTED, link(ptx_of(""), &kDefault, 0, &native));
}

TEST(NvidiaLinker, FailsCleanlyWithoutMemory)
{
    FailingAllocator failing(0);
    std::string native;
    EXPECT_EQ(INGOT_OUT_OF_MEMORY, link(ptx_of(""), failing.table(), 13, &native));
    EXPECT_EQ(0u, failing.live_count());
}
