/*
 * environment_fuzzer.cpp - reads environment variables INGOT_PERSIST* with any values. The result must be valid
 * settings with a path, or an allowed status without a path. The input consists of lines NAME=VALUE, where NAME is the
 * part of the name of a variable after INGOT_PERSIST.
 */
#include <cstdlib>
#include <map>
#include <string>

extern "C" {
#include "persist/storage/storage.h"
}

namespace
{

using Variables = std::map<std::string, std::string>;

const char *look_up(const char *name, void *user)
{
    const auto &variables = *static_cast<const Variables *>(user);
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
}

/* Checks the settings, and opens nothing. */
ingot_status_t check(ingot_persist_info_t *info, void *)
{
    if (info->path == nullptr || info->path[0] == '\0' || info->eviction > INGOT_PERSIST_EVICT_OFF)
        abort();
    return INGOT_BUSY;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const std::string text(data, data + size);
    Variables variables;
    for (size_t at = 0; at < text.size();) {
        const size_t end = text.find('\n', at) != std::string::npos ? text.find('\n', at) : text.size();
        const std::string line = text.substr(at, end - at);
        const size_t equals = line.find('=');
        if (equals != std::string::npos)
            variables["INGOT_PERSIST" + line.substr(0, equals)] = line.substr(equals + 1);
        at = end + 1;
    }
    variables["HOME"] = "/home";
    ingot_persist_info_t defaults = INGOT_PERSIST_INFO_INIT;
    ingot_storage_t storage = nullptr;
    defaults.adjust = check;
    const ingot_status_t status = persist_environment_open(&storage, &defaults, look_up, &variables);
    if (status != INGOT_BUSY && status != INGOT_NOT_FOUND && status != INGOT_INVALID_ARGUMENTS)
        abort();
    return 0;
}
