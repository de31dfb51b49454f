/*
 * remote_url_fuzzer.cpp - parses any text as the URL of a remote tier. If it is accepted, its parts must have the
 * lengths that other code relies on, and an HTTP address made from it must end with the whole key.
 */
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

extern "C" {
#include "remote/http/target.h"
#include "remote/settings/url.h"
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const std::string text(reinterpret_cast<const char *>(data), size);
    url parsed;
    target made = {};
    char path[TARGET_PATH_CAPACITY];
    if (url_parse(&parsed, text.c_str()) != INGOT_SUCCESS)
        return 0;
    if (std::strlen(parsed.host) > 255 || std::strlen(parsed.port) > 5)
        abort();
    if (parsed.scheme <= URL_REDIS_TLS && (std::strlen(parsed.path) > 5 || parsed.host[0] == '\0'))
        abort();
    if (parsed.scheme == URL_REDIS_UNIX ? parsed.path[0] != '/' : parsed.host[0] == '\0')
        abort();
    if (parsed.scheme >= URL_HTTP && target_init(&made, &parsed, "default") == INGOT_SUCCESS) {
        target_path(&made, std::string(64, '0').c_str(), path);
        const size_t length = std::strlen(path);
        if (length < 64 || std::string(path + length - 64) != std::string(64, '0'))
            abort(); /* the key was cut off */
    }
    return 0;
}
