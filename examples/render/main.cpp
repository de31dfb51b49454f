/*
 * main.cpp - draws 60 frames per second while its kernels are compiled; see README.md.
 *
 *     render DIRECTORY [--blocking] [--frames COUNT] [--csv FILE]
 *
 * There is no window: each frame is an image in the device's memory. One kernel can shade every material. A kernel that
 * is specialised for one material is faster, and is compiled when the material first appears: by a builder, a process
 * that the library starts, while the plain kernel draws. With --blocking, the frame waits for the compiler, as without
 * Ingot. The CSV file has a line per frame: the milliseconds that the frame took, and how many materials had their own
 * kernel.
 */
#include <ingot/opencl.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <thread>
#include <vector>

namespace
{

using Clock = std::chrono::steady_clock;

constexpr int kMaterials = 12;
constexpr int kFramesPerMaterial = 40; /* a new one appears so often */
constexpr size_t kWidth = 64, kHeight = 16;
constexpr auto kFrame = std::chrono::microseconds(16667);

/* MATERIAL is a constant in a specialised kernel, so that the compiler unrolls the loops and leaves out branches. */
constexpr char kSource[] = R"(
#ifndef MATERIAL
#define MATERIAL material
#endif
float noise(float x, float y, int seed)
{
    float value = 0, weight = 0.5f;
    for (int octave = 0; octave < 4 + seed; ++octave, weight *= 0.5f) {
        x = x * 1.9f + seed;
        y = y * 1.9f - octave;
        value += weight * fabs(sin(x) * cos(y) + sin(x * y));
    }
    return value;
}
kernel void shade(global float4 *image, int material, float time)
{
    const int column = get_global_id(0), row = get_global_id(1);
    const float x = column / 64.0f + time, y = row / 16.0f;
    float4 color = (float4)(noise(x, y, MATERIAL), noise(y, x, MATERIAL + 1), noise(x, x + y, MATERIAL + 2), 1.0f);
    if (MATERIAL % 2 == 0)
        color.xyz *= pow(fabs(sin(12.0f * y)), 1.0f + MATERIAL);
    if (MATERIAL % 3 == 0)
        color.xyz = mix(color.xyz, color.zyx, exp(-x * x));
    image[(material * 16 + row) * 64 + column] = color;
}
)";

struct Material {
    ingot::pending<cl_program> pending;
    cl_kernel kernel = nullptr;
};

class Renderer
{
public:
    Renderer(const ingot::cache &cache, bool is_blocking) : cache_(cache), is_blocking_(is_blocking)
    {
        /* Otherwise, PoCL compiles each kernel once more at its first launch, in this thread. The builder inherits it.
         */
        setenv("POCL_WORK_GROUP_SPECIALIZATION", "0", 0);
        cl_platform_id platform = nullptr;
        if (clGetPlatformIDs(1, &platform, nullptr) != CL_SUCCESS ||
            clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device_, nullptr) != CL_SUCCESS)
            throw std::runtime_error("no OpenCL device");
        context_ = clCreateContext(nullptr, 1, &device_, nullptr, nullptr, nullptr);
        queue_ = clCreateCommandQueueWithProperties(context_, device_, nullptr, nullptr);
        image_ = clCreateBuffer(context_, CL_MEM_READ_WRITE, kMaterials * kWidth * kHeight * sizeof(cl_float4), nullptr,
                                nullptr);
        plain_ = kernel_of(ingot::opencl_build(cache_, context_, {device_}, kSource, ""));
    }

    std::string device_name() const
    {
        char name[256] = "";
        clGetDeviceInfo(device_, CL_DEVICE_NAME, sizeof(name), name, nullptr);
        return name;
    }

    /* Draws the materials that have appeared. Returns how many have kernels of their own. */
    int draw(int frame)
    {
        const int count = std::min(kMaterials, frame / kFramesPerMaterial + 1);
        int specialised = 0;
        for (int i = 0; i < count; ++i) {
            Material &material = materials_[static_cast<size_t>(i)];
            if (material.kernel == nullptr)
                specialise(material, "-DMATERIAL=" + std::to_string(i));
            shade(material.kernel != nullptr ? material.kernel : plain_, i, static_cast<float>(frame) / 60);
            specialised += material.kernel != nullptr;
        }
        clFinish(queue_);
        return specialised;
    }

private:
    void specialise(Material &material, const std::string &options)
    {
        if (is_blocking_)
            material.kernel = kernel_of(ingot::opencl_build(cache_, context_, {device_}, kSource, options));
        else if (material.pending.get() == nullptr)
            material.pending = ingot::opencl_begin(cache_, context_, {device_}, kSource, options);
        else if (material.pending.ready())
            material.kernel = kernel_of(material.pending.take());
    }

    static cl_kernel kernel_of(cl_program program)
    {
        cl_kernel kernel = clCreateKernel(program, "shade", nullptr);
        clReleaseProgram(program);
        return kernel;
    }

    void shade(cl_kernel kernel, cl_int material, float time) const
    {
        const size_t size[] = {kWidth, kHeight};
        clSetKernelArg(kernel, 0, sizeof(image_), &image_);
        clSetKernelArg(kernel, 1, sizeof(material), &material);
        clSetKernelArg(kernel, 2, sizeof(time), &time);
        if (clEnqueueNDRangeKernel(queue_, kernel, 2, nullptr, size, nullptr, 0, nullptr, nullptr) != CL_SUCCESS)
            throw std::runtime_error("a kernel cannot be launched");
    }

    const ingot::cache &cache_;
    bool is_blocking_;
    cl_device_id device_ = nullptr;
    cl_context context_ = nullptr;
    cl_command_queue queue_ = nullptr;
    cl_mem image_ = nullptr;
    cl_kernel plain_ = nullptr;
    std::vector<Material> materials_{static_cast<size_t>(kMaterials)};
};

void render(const char *directory, bool is_blocking, int frames, const char *csv)
{
    ingot_cache_info_t info = INGOT_CACHE_INFO_INIT;
    info.directory = directory;
    info.builders = is_blocking ? 0 : 1;
    const ingot::cache cache(info);
    Renderer renderer(cache, is_blocking);
    std::ofstream file(csv);
    file << "# " << renderer.device_name() << "\nframe,ms,specialised\n";
    double longest = 0;
    int specialised = 0;
    for (int frame = 0; frame < frames; ++frame) {
        const Clock::time_point start = Clock::now();
        specialised = renderer.draw(frame);
        const double ms = std::chrono::duration<double, std::milli>(Clock::now() - start).count();
        longest = std::max(longest, ms);
        file << frame << ',' << ms << ',' << specialised << '\n';
        std::this_thread::sleep_until(start + kFrame);
    }
    std::printf("%d frames, the longest took %.1f ms; %d specialised kernels\n", frames, longest, specialised);
}

} // namespace

int main(int count, char **arguments)
{
    bool is_blocking = false;
    int frames = 600;
    const char *csv = "/dev/null";
    for (int i = 2; i < count; ++i) {
        if (std::strcmp(arguments[i], "--blocking") == 0)
            is_blocking = true;
        else if (std::strcmp(arguments[i], "--frames") == 0 && i + 1 < count)
            frames = std::atoi(arguments[++i]);
        else if (std::strcmp(arguments[i], "--csv") == 0 && i + 1 < count)
            csv = arguments[++i];
        else
            count = 0;
    }
    if (count < 2) {
        std::fputs("usage: render DIRECTORY [--blocking] [--frames COUNT] [--csv FILE]\n", stderr);
        return 2;
    }
    try {
        render(arguments[1], is_blocking, frames, csv);
        return 0;
    } catch (const std::exception &failure) {
        std::fprintf(stderr, "render: %s\n", failure.what());
        return 1;
    }
}
