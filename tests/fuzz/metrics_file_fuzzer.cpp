/*
 * metrics_file_fuzzer.cpp - adds up any bytes as the file of a process with its counts. What is printed must be lines
 * of counters and comments, and the same when they are read again, unless one is too long by then.
 */
#include "fuzz/fuzz_scratch.h"

extern "C" {
#include "cli/commands/prometheus.h"
}

namespace
{

std::string sum_of(const std::string &text)
{
    prometheus all = {};
    char *printed = nullptr;
    size_t size = 0;
    fuzz::write_file(fuzz::scratch() + "/1.metrics", reinterpret_cast<const uint8_t *>(text.data()), text.size());
    FILE *stream = open_memstream(&printed, &size);
    if (stream == nullptr || prometheus_read(&all, fuzz::scratch().c_str(), false) != 0)
        abort();
    prometheus_print(stream, &all);
    std::fclose(stream);
    std::string result(printed, size);
    std::free(printed);
    for (size_t i = 0; i < all.count; ++i)
        std::free(all.lines[i].text);
    std::free(all.lines);
    return result;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const std::string sum = sum_of(std::string(data, data + size));
    size_t longest = 0, end = 0;
    for (size_t at = 0; at < sum.size(); at = end + 1) {
        if (sum.compare(at, 6, "ingot_") != 0 && sum.compare(at, 2, "# ") != 0)
            abort();
        end = sum.find('\n', at);
        longest = std::max(longest, end - at);
    }
    if (longest < 1000 && sum_of(sum) != sum)
        abort();
    return 0;
}
