/*
 * Any text as a source, as options, and as an embedded header: the closure ends, reads only what is there, and gives a
 * result or a reason. The input is three parts divided by 0xff. "inc.h" is embedded too, so that cycles arise.
 */
#include <cstdlib>
#include <string>

#include <ingot/backend.h>

extern "C" {
#include "core/include_closure/include_closure.h"
}

namespace
{

std::string next_part(const char **at, const char *end)
{
    std::string part;
    while (*at != end && static_cast<unsigned char>(**at) != 0xff)
        part += *(*at)++;
    if (*at != end)
        ++*at;
    return part;
}

/* Absolute names and "..": the fuzzer must not wander through the machine's files. */
bool leaves_the_directory(const std::string &text)
{
    return text.find('/') != std::string::npos || text.find("usr") != std::string::npos;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *at = reinterpret_cast<const char *>(data);
    const char *end = at + size;
    const std::string source = next_part(&at, end);
    const std::string options = std::string(next_part(&at, end).c_str());
    const std::string header = next_part(&at, end);
    if (leaves_the_directory(options))
        return 0;
    const ingot_source_kind_t kind = size % 2 != 0 ? INGOT_SOURCE_CUDA_CPP : INGOT_SOURCE_OPENCL_C;
    const ingot_source_view_t sources[] = {{kind, source.size(), source.c_str(), "k.cl"}};
    const ingot_source_view_t headers[] = {{INGOT_SOURCE_HEADER, header.size(), header.c_str(), "inc.h"}};

    ingot_allocator_t allocator;
    include_closure closure;
    if (alloc_init(&allocator, nullptr) != INGOT_SUCCESS)
        abort();
    include_closure_init(&closure, &allocator);
    const ingot_status_t status = include_closure_resolve(&closure, sources, 1, headers, 1, options.c_str());
    if (status != INGOT_SUCCESS || (closure.reason != nullptr && closure.files.size != 0))
        abort();
    /* A text that compilers read differently is refused even where no reading includes anything. */
    const std::string reason = closure.reason != nullptr ? closure.reason : "";
    const bool found = closure.files.size != 0 || reason.find("was not found") != std::string::npos ||
                       reason.find("differs from build to build") != std::string::npos;
    if (found && !include_closure_concerns(source.size(), source.c_str()) &&
        !include_closure_concerns(header.size(), header.c_str()) && !include_closure_options_concern(options.c_str()))
        abort(); /* the cheap look must not miss what the closure sees */
    include_closure_fini(&closure);

    char *kept = nullptr;
    if (options_without_paths(&allocator, options.c_str(), &kept) != INGOT_SUCCESS || kept == nullptr)
        abort();
    alloc_free_text(&allocator, kept);
    return 0;
}
