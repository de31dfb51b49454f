/*
 * request_fuzzer.cpp - reads any bytes as a request in both forms. What is accepted must be written as it was read, and
 * all of it must be readable.
 */
#include <cstdlib>
#include <cstring>
#include <initializer_list>

extern "C" {
#include "core/descriptor/request.h"
}

namespace
{

void add_up(void *user, const char *, size_t size, const uint8_t *value, bool)
{
    auto *sum = static_cast<unsigned *>(user);
    for (size_t i = 0; i < size; ++i)
        *sum += value[i];
}

void check_rewritten(request_form form, const request &read, size_t size, const uint8_t *bytes)
{
    bytes_writer out;
    volatile unsigned sum = 0;
    unsigned visited = 0;
    bytes_writer_init(&out, &memory_c_allocator);
    request_write(&out, form, &read);
    if (!out.failed && (out.size != size || memcmp(out.bytes, bytes, size) != 0))
        abort();
    request_visit(&read, add_up, &visited);
    sum = visited;
    (void)sum;
    bytes_writer_fini(&out);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t digest[INGOT_REQUEST_DIGEST_SIZE];
    unsigned sum = 0;
    for (const request_form form : {REQUEST_OF_DIGESTS, REQUEST_OF_TEXTS}) {
        arena arena;
        request read;
        arena_init(&arena, &memory_c_allocator);
        if (request_read(&read, form, &arena, size, data) == INGOT_SUCCESS)
            check_rewritten(form, read, size, data);
        arena_fini(&arena);
    }
    const ingot_status_t status = ingot_request_visit(size, data, add_up, &sum);
    if (ingot_request_get_digest(size, data, digest) != status)
        abort();
    return 0;
}
