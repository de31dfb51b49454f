/*
 * corpus_main.cpp - runs a fuzzer on the files of its corpus, in builds without libFuzzer: each file as it is, cut off
 * at every byte, and with every byte changed. So every run of the tests repeats all earlier findings.
 */
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

namespace
{

namespace fs = std::filesystem;
using Bytes = std::vector<uint8_t>;

constexpr size_t kMaxVaried = 2048; /* only the first bytes of a file are varied */

size_t run(const Bytes &input)
{
    const auto call = [](Bytes bytes) { /* a copy without spare capacity, so that a sanitizer sees reads past its end */
                                        bytes.shrink_to_fit();
                                        LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
    };
    size_t count = 1;
    call(input);
    for (size_t i = 0; i < input.size() && i < kMaxVaried; ++i) {
        call(Bytes(input.begin(), input.begin() + static_cast<std::ptrdiff_t>(i)));
        Bytes changed = input;
        changed[i] = static_cast<uint8_t>(changed[i] ^ (1u << (i % 8)));
        call(changed);
        changed[i] = 0xff;
        call(changed);
        count += 3;
    }
    return count;
}

} // namespace

int main(int count, char **arguments)
{
    size_t files = 0;
    size_t inputs = 0;
    for (int i = 1; i < count; ++i)
        for (const auto &item : fs::recursive_directory_iterator(arguments[i])) {
            if (!item.is_regular_file())
                continue;
            std::ifstream file(item.path(), std::ios::binary);
            inputs += run(Bytes(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()));
            ++files;
        }
    std::printf("%zu files, %zu inputs\n", files, inputs);
    return files == 0 ? 1 : 0; /* a missing corpus is an error */
}
