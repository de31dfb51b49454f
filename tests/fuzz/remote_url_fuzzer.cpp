/*
 * remote_url_fuzzer.cpp - parses any text as the URL of a remote tier. If it is accepted, its parts must have the
 * lengths that other code relies on, and a transport over HTTP opens or refuses it.
 */
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

extern "C" {
#include "remote/base/base.h"
#include "remote/curl/curl.h"
#include "remote/settings/settings.h"
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const std::string text(reinterpret_cast<const char *>(data), size);
    struct access access = {};
    const url &parsed = access.url;
    transport opened = {};
    if (url_parse(&access.url, text.c_str()) != INGOT_SUCCESS)
        return 0;
    if (std::strlen(parsed.host) > 255 || std::strlen(parsed.port) > 5)
        abort();
    if (parsed.scheme <= URL_REDIS_TLS && (std::strlen(parsed.path) > 5 || parsed.host[0] == '\0'))
        abort();
    if (parsed.scheme == URL_REDIS_UNIX ? parsed.path[0] != '/' : parsed.host[0] == '\0')
        abort();
    if (parsed.scheme >= URL_HTTP && http_open(&opened, &access, "default") == INGOT_SUCCESS)
        opened.ops->destroy(opened.self);
    return 0;
}
