/*
 * desc_memo.c - makes the key of a remembered resolution; see desc_memo.h.
 */
#include "core/descriptor/desc_memo.h"

#include <string.h>

#include "core/base/os_file.h"

static void put_text(struct bytes_writer *out, const char *text)
{
    bytes_put_framed(out, strlen(text), text);
}

static void put_source(struct bytes_writer *out, const struct ingot_source *source)
{
    uint8_t digest[DIGEST_SIZE];
    source_get_digest(source, digest);
    bytes_put_u32(out, (uint32_t)source->kind);
    bytes_put(out, sizeof(digest), digest);
    put_text(out, source->name);
    put_text(out, source->compile_options);
    bytes_put_u64(out, source->header_count);
    for (size_t i = 0; i < source->header_count; ++i)
        put_source(out, source->headers[i]);
}

bool desc_memo_key(const struct ingot_program_desc *desc, uint8_t key[DIGEST_SIZE])
{
    const struct ingot_context *context = desc->context;
    struct bytes_writer out;
    bytes_writer_init(&out, &context->allocator);
    bytes_put(&out, DIGEST_SIZE, context->text_rules.digest);
    bytes_put_u64(&out, os_reader());
    put_text(&out, desc->compile_options);
    put_text(&out, context->compile_options);
    bytes_put_u64(&out, desc->source_count);
    for (size_t i = 0; i < desc->source_count; ++i)
        put_source(&out, desc->sources[i]);
    bytes_put_u64(&out, desc->header_count);
    for (size_t i = 0; i < desc->header_count; ++i)
        put_source(&out, desc->sources[desc->source_count + i]);
    const bool is_made = !out.failed;
    if (is_made)
        digest_of(out.size, out.bytes, key);
    bytes_writer_fini(&out);
    return is_made;
}
