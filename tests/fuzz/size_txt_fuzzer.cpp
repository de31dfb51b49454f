/*
 * size_txt_fuzzer.cpp - reads any bytes as a file size.txt. If they are accepted, the number must be the one in the
 * text.
 */
#include <cstdint>
#include <cstdlib>
#include <string>

/* Declared as in persist/directory/entries.h, whose other declarations are not valid C++. */
extern "C" bool account_parse(size_t size, const char *text, uint64_t *total_bytes);

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const std::string text(data, data + size);
    uint64_t total = 0;
    if (!account_parse(text.size(), text.data(), &total))
        return 0;
    std::string digits = text.substr(0, text.find_last_of("0123456789") + 1);
    const size_t first = digits.find_first_not_of('0');
    digits = first == std::string::npos ? "0" : digits.substr(first);
    if (digits != std::to_string(total))
        abort();
    return 0;
}
