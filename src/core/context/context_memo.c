/*
 * context_memo.c - implements the functions of private/header_memo.h for a context's memo.
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
        return error_set(INGOT_UNIMPLEMENTED, "the Ingot library has no build-id, without which probes cannot be kept");
    memcpy(room, ingot_version(), version_size);
    memcpy(room + version_size, build_id, build_id_size);
    digest_of(version_size + build_id_size, room, digest);
    return INGOT_SUCCESS;
}

ingot_status_t ingot_header_memo_keep(ingot_header_memo_t memo, const ingot_probes_keeper_t *keeper, void *user)
{
    uint8_t build[DIGEST_SIZE];
    ingot_status_t status = identify_build(build);
    if (status == INGOT_SUCCESS)
        status = header_memo_keep(memo, build, keeper, user);
    if (status != INGOT_SUCCESS)
        keeper->release(user);
    return status;
}
