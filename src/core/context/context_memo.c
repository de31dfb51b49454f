/*
 * context_memo.c - implements the public functions for the header memo, which remembers what headers contain.
 */
#include <ingot/private/header_memo.h>
#include <string.h>

#include "core/base/error.h"
#include "core/context/context.h"
#include "core/identity/loaded_library.h"

ingot_header_memo_t ingot_context_get_header_memo(const_ingot_context_t context)
{
    return context != NULL ? context->header_memo : NULL;
}

void context_share_memo(struct ingot_context *context, struct ingot_header_memo *memo)
{
    header_memo_retain(memo);
    context->header_memo = memo;
    context->shares_memo = true;
}

void ingot_header_memo_retain(ingot_header_memo_t memo)
{
    if (memo != NULL)
        header_memo_retain(memo);
}

void ingot_header_memo_release(ingot_header_memo_t memo)
{
    header_memo_release(memo);
}

/* Computes a digest that identifies Ingot's code, because another version may resolve includes differently. The
 * version number alone would not distinguish a developer's builds. */
static ingot_status_t identify_build(uint8_t digest[DIGEST_SIZE])
{
    uint8_t room[256];
    const uint8_t *build_id = NULL;
    size_t build_id_size = 0;
    const size_t version_size = strlen(ingot_version()) + 1;
    const struct link_map *library = library_of_function((const void *)(uintptr_t)&identify_build);
    if (library == NULL || !library_build_id(library, &build_id, &build_id_size) ||
        version_size + build_id_size > sizeof(room))
        return error_set(INGOT_UNIMPLEMENTED, "the Ingot library has no build-id, which a memo of headers needs");
    memcpy(room, ingot_version(), version_size);
    memcpy(room + version_size, build_id, build_id_size);
    digest_of(version_size + build_id_size, room, digest);
    return INGOT_SUCCESS;
}

ingot_status_t ingot_header_memo_get_bytes(ingot_header_memo_t memo, size_t *size, uint8_t *bytes)
{
    uint8_t build[DIGEST_SIZE];
    struct bytes_writer out;

    if (memo == NULL || size == NULL)
        return error_set(INGOT_INVALID_ARGUMENTS, "memo or size is NULL");
    ingot_status_t status = identify_build(build);
    if (status != INGOT_SUCCESS)
        return status;
    status = header_memo_write(memo, build, &out);
    if (status == INGOT_SUCCESS)
        status = bytes_copy_out(out.size, out.bytes, size, bytes);
    bytes_writer_fini(&out);
    return status;
}

ingot_status_t ingot_header_memo_add_bytes(ingot_header_memo_t memo, size_t size, const uint8_t *bytes)
{
    uint8_t build[DIGEST_SIZE];

    if (memo == NULL || bytes == NULL)
        return error_set(INGOT_INVALID_ARGUMENTS, "memo or bytes is NULL");
    const ingot_status_t status = identify_build(build);
    return status == INGOT_SUCCESS ? header_memo_add(memo, build, size, bytes) : status;
}

int ingot_header_memo_is_in_use(ingot_header_memo_t memo)
{
    return memo != NULL && header_memo_is_in_use(memo);
}

uint64_t ingot_header_memo_count_learned(ingot_header_memo_t memo)
{
    return memo != NULL ? header_memo_learned(memo) : 0;
}
