/*
 * program_sets.cpp - lists the programs that are not generated: those of the digits example and of hashcat.
 */
#include <algorithm>
#include <filesystem>

#include "hermetic/project.h"

namespace hermetic
{

std::vector<Project> list_digits()
{
    const std::string folder = INGOT_SOURCE_DIR "/examples/digits/kernels";
    const struct {
        const char *file, *options;
    } programs[] = {{"normalize.cl", "-DGROUP=64 -DMAX_PIXEL=16"},
                    {"conv.cl", "-DIN_CHANNELS=1 -DOUT_CHANNELS=8 -DFUSE_RELU"},
                    {"conv.cl", "-DIN_CHANNELS=8 -DOUT_CHANNELS=16 -DFUSE_RELU"},
                    {"pool.cl", "-DGROUP=64 -DCHANNELS=16"},
                    {"dense.cl", "-DTILE=8 -DINPUTS=256 -DOUTPUTS=32 -DFUSE_RELU"},
                    {"dense.cl", "-DTILE=8 -DINPUTS=32 -DOUTPUTS=10"},
                    {"softmax.cl", "-DGROUP=64 -DCLASSES=10"},
                    {"argmax.cl", "-DGROUP=64 -DCLASSES=10"}};
    std::vector<Project> list;
    for (const auto &program : programs)
        list.push_back({"digits " + std::string(program.file) + " " + program.options,
                        {},
                        read_file(folder + "/" + program.file),
                        "-cl-std=CL1.2 -I " + folder + " " + program.options});
    return list;
}

/* The options are those that hashcat 6.2 uses for an unsalted hash and a mask. VENDOR_ID is 8 for Intel and 64 for
 * PoCL. */
std::vector<Project> list_hashcat(bool is_cpu)
{
    const std::string folder = "/usr/share/hashcat/OpenCL";
    const std::string options =
        "-cl-std=CL1.2 -w -D KERNEL_STATIC -I " + folder + " -D INCLUDE_PATH=" + folder +
        " -D XM2S(x)=#x -D M2S(x)=XM2S(x) -D LOCAL_MEM_TYPE=1 -D VECT_SIZE=1 -D CUDA_ARCH=0 -D HAS_VPERM=0" +
        " -D VENDOR_ID=" + (is_cpu ? "64" : "8") + " -D DEVICE_TYPE=" + (is_cpu ? "2" : "4") +
        " -D DGST_R0=0 -D DGST_R1=3 -D DGST_R2=2 -D DGST_R3=1 -D DGST_ELEM=4 -D KERN_TYPE=0" +
        " -D ATTACK_EXEC=11 -D ATTACK_KERN=3 -D ATTACK_MODE=3";
    std::vector<Project> list;
    for (const auto &entry : std::filesystem::directory_iterator(folder)) {
        const std::string name = entry.path().filename().string();
        if (entry.path().extension() != ".cl" || name.compare(0, 4, "inc_") == 0)
            continue;
        list.push_back({"hashcat " + name, {}, read_file(entry.path().string()), options});
    }
    std::sort(list.begin(), list.end(), [](const Project &a, const Project &b) { return a.label < b.label; });
    return list;
}

} // namespace hermetic
