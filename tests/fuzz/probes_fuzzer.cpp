/*
 * probes_fuzzer.cpp - reads any bytes as the content and as the id of probes. If the content is accepted, writing it
 * again must give the same bytes, and its description and confirmation must end.
 */
#include <cstdlib>
#include <cstring>
#include <vector>

#include <ingot/private/descriptor.h>

extern "C" {
#include "core/memo/probes.h"
}

namespace
{

void require(bool truth)
{
    if (!truth)
        abort();
}

void try_content(size_t size, const uint8_t *bytes)
{
    struct probes probes;
    size_t text_size = 0;
    const bool is_read = probes_read(&probes, size, bytes);
    const ingot_status_t described = ingot_cache_blob_describe(size, bytes, &text_size, nullptr);
    require(!probes_begin(size, bytes) || is_read == (described == INGOT_SUCCESS));
    if (!is_read)
        return;
    bytes_writer written;
    bytes_writer_init(&written, &memory_c_allocator);
    probes_write(&written, &probes);
    require(!written.failed && written.size == size && std::memcmp(written.bytes, bytes, size) == 0);
    bytes_writer_fini(&written);
    (void)witness_confirm(probes.answers_size, probes.answers);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint8_t magic[] = {'I', 'N', 'G', 'O', 'T', 'P', 'R', 'B'};
    try_content(size, data);
    std::vector<uint8_t> begun(magic, magic + sizeof(magic));
    begun.insert(begun.end(), data, data + size);
    try_content(begun.size(), begun.data());
    (void)probes_visit_id(
        size, data, [](void *, const char *, size_t, const uint8_t *, bool) {}, nullptr);
    return 0;
}
