/*
 * cuda_device.cpp - implements DeviceUnderTest for the CUDA driver of the test.
 */
#include <map>

#include "conformance/rtc_device.h"
#include "support/cuda_driver.h"
#include "support/elf_build_id.h"

namespace conformance
{

namespace
{

class CudaDevice : public RtcDevice
{
public:
    CudaDevice() : RtcDevice("CUDA", INGOT_SOURCE_CUDA_CPP) {}

    ingot_context_t make_context(const std::vector<uint32_t> &devices, const ingot_context_info_t &info) override
    {
        std::vector<CUcontext> chosen;
        for (const uint32_t device : devices)
            chosen.push_back(driver_.contexts().at(device));
        ingot_context_t context = nullptr;
        require(ingot_cuda_context_create(&context, static_cast<uint32_t>(chosen.size()), chosen.data(), &info));
        first_[context] = chosen.front();
        return context;
    }

    /* The equal device is another GPU, or another context of the first one. */
    std::optional<uint32_t> different_device() const override { return driver_.different_device(); }

    /* For a real GPU, this changes what the compiler generates. */
    Environment environment_of_another_device() const override
    {
        return executes() ? Environment{{"NVRTC_APPEND_FLAGS", "-maxrregcount=128"}}
                          : Environment{{"CUDA_STAND_IN_CAPABILITY", "89"}, {"CUDA_STAND_IN_NAME", "Its successor"}};
    }

    /* Puts a copy of NVRTC with another build-id first in the library path. */
    Environment environment_of_another_driver() const override
    {
        static const std::string path = path_with_another_build("libnvrtc.so.13", "compiler");
        return {{"LD_LIBRARY_PATH", path}};
    }

    std::string harmless_option() const override { return "-maxrregcount=64"; }
    bool takes_link_options() const override { return true; }
    bool executes() const override { return !driver_.is_stand_in(); }

    int run(ingot_context_t context, ingot_kernel_t kernel, int x, size_t local_size) override
    {
        CUcontext current = nullptr;
        CUdeviceptr buffer = 0;
        std::vector<int> values(8, x);
        const size_t size = values.size() * sizeof(int);
        void *arguments[] = {&buffer};
        const unsigned threads = static_cast<unsigned>(local_size);
        const unsigned blocks = static_cast<unsigned>(values.size()) / threads;
        driver_.call("cuCtxPushCurrent_v2", first_.at(context));
        driver_.call("cuMemAlloc_v2", &buffer, size);
        driver_.call("cuMemcpyHtoD_v2", buffer, static_cast<const void *>(values.data()), size);
        driver_.call("cuLaunchKernel", get(kernel), blocks, 1u, 1u, threads, 1u, 1u, 0u, static_cast<CUstream>(nullptr),
                     static_cast<void **>(arguments), static_cast<void **>(nullptr));
        driver_.call("cuMemcpyDtoH_v2", static_cast<void *>(values.data()), buffer, size);
        driver_.call("cuMemFree_v2", buffer);
        driver_.call("cuCtxPopCurrent_v2", &current);
        return values.back();
    }

    const void *native_kernel(ingot_kernel_t kernel) const override { return get(kernel); }
    const void *native_module(ingot_program_t program, uint32_t device_index) const override
    {
        CUmodule module = nullptr;
        require(ingot_cuda_program_get_native(program, device_index, &module));
        return module;
    }
    ingot_status_t lowered_name(ingot_program_t program, const char *expression, const char **name) const override
    {
        return ingot_cuda_program_get_lowered_name(program, expression, name);
    }

private:
    CUfunction get(ingot_kernel_t kernel) const
    {
        CUfunction native = nullptr;
        require(ingot_cuda_kernel_get_native(kernel, &native));
        return native;
    }

    CudaDriver &driver_ = CudaDriver::get();
    std::map<ingot_context_t, CUcontext> first_; /* native context of each context's first device */
};

} // namespace

DeviceUnderTest &device_under_test()
{
    static CudaDevice device;
    return device;
}

} // namespace conformance
