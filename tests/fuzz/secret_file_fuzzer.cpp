/*
 * secret_file_fuzzer.cpp - reads any bytes as a file of credentials. If they are accepted, the secret must be the first
 * line, and safe in the header of a protocol.
 */
#include "fuzz/fuzz_scratch.h"

extern "C" {
#include "remote/settings/settings.h"
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const std::string text(reinterpret_cast<const char *>(data), size), path = fuzz::scratch() + "/secret";
    char secret[SECRET_CAPACITY];
    fuzz::write_file(path, data, size);
    if (secret_file_read("secret", path.c_str(), secret) != INGOT_SUCCESS)
        return 0;
    const std::string expected = text.substr(0, text.find_first_of("\r\n"));
    if (secret != expected || expected.empty() || expected.size() >= SECRET_CAPACITY)
        abort();
    for (const char c : expected)
        if (static_cast<unsigned char>(c) < ' ' || c == 0x7f)
            abort();
    return 0;
}
