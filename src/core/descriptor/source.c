/*
 * source.c - creates, compares and hashes sources; see source.h.
 */
#include "core/descriptor/source.h"

#include <ingot/private/program.h>
#include <string.h>

#include "core/base/error.h"
#include "core/hermetic/hermetic.h"
#include "util/struct_size.h"

static bool is_text_kind(ingot_source_kind_t kind)
{
    return hermetic_kind_has_includes(kind) || kind == INGOT_SOURCE_PTX;
}

ingot_status_t source_check_headers(size_t count, struct ingot_source *const *headers)
{
    for (size_t i = 0; i < count; ++i) {
        if (headers[i] == NULL || headers[i]->kind != INGOT_SOURCE_HEADER)
            return error_set(INGOT_INVALID_ARGUMENTS, "header %zu is NULL or not of kind INGOT_SOURCE_HEADER", i);
        for (size_t j = 0; j < i; ++j) {
            if (strcmp(headers[i]->name, headers[j]->name) == 0)
                return error_set(INGOT_INVALID_ARGUMENTS, "two headers have the name %s", headers[i]->name);
        }
    }
    return INGOT_SUCCESS;
}

static void destroy_source(struct ingot_source *source)
{
    const ingot_allocator_t allocator = source->allocator;
    memory_free(&allocator, source->bytes, source->size + 1);
    memory_free_text(&allocator, source->name);
    striped_count_fini(&source->references, &allocator);
    memory_free(&allocator, source, sizeof(*source));
}

ingot_status_t ingot_source_create(ingot_source_t *source, const ingot_source_info_t *info)
{
    ingot_source_info_t known;
    ingot_allocator_t allocator;

    if (source == NULL || !STRUCT_READ(known, info))
        return error_set(INGOT_INVALID_ARGUMENTS, "source or info is NULL, or its struct_size is not set");
    if (!(is_text_kind(known.kind) || known.kind == INGOT_SOURCE_SPIRV || known.kind == INGOT_SOURCE_HIP_CODE ||
          (known.kind >= INGOT_SOURCE_OWN_BINARY && known.kind < INGOT_SOURCE_OWN_BINARY + 0x100)))
        return error_set(INGOT_INVALID_ARGUMENTS, "source kind %d is unknown", (int)known.kind);
    if (known.bytes == NULL && known.size != 0)
        return error_null_argument("info.bytes");
    if (known.size == 0 && known.kind != INGOT_SOURCE_HEADER)
        return error_set(INGOT_INVALID_ARGUMENTS, "the source is empty");
    if (known.size > SIZE_MAX / 4)
        return error_set(INGOT_INVALID_ARGUMENTS, "the source is too large");
    if (is_text_kind(known.kind) && known.size != 0 && memchr(known.bytes, '\0', known.size) != NULL)
        return error_set(INGOT_INVALID_ARGUMENTS, "a text source contains a NUL byte");
    if (known.kind == INGOT_SOURCE_HEADER && (known.name == NULL || *known.name == '\0'))
        return error_set(INGOT_INVALID_ARGUMENTS, "a header has no name");
    if (memory_init(&allocator, known.allocator) != INGOT_SUCCESS)
        return error_set(INGOT_INVALID_ARGUMENTS, "the allocator lacks a function");

    struct ingot_source *made = memory_allocate_zeroed(&allocator, sizeof(*made));
    if (made == NULL)
        return error_out_of_memory();
    made->allocator = allocator;
    striped_count_init(&made->references);
    made->kind = known.kind;
    made->size = known.size;
    made->bytes = memory_allocate(&allocator, known.size + 1);
    made->name = memory_make_text(&allocator, known.name);
    if (made->bytes == NULL || made->name == NULL) {
        destroy_source(made);
        return error_out_of_memory();
    }
    if (known.size != 0)
        memcpy(made->bytes, known.bytes, known.size);
    made->bytes[known.size] = '\0';
    made->hash = hash128_of(known.size, made->bytes);
    made->is_text = hermetic_kind_has_includes(known.kind);
    made->may_include = made->is_text && hermetic_concerns(known.size, made->bytes);
    *source = made;
    return INGOT_SUCCESS;
}

void ingot_source_retain(ingot_source_t source)
{
    if (source != NULL)
        striped_count_hold(&source->references);
}

void ingot_source_release(ingot_source_t source)
{
    if (source != NULL && striped_count_release(&source->references))
        source_unreference(source);
}

void source_reference(struct ingot_source *source)
{
    enum { USES_TO_SPREAD = 64 };

    striped_count_add(&source->references);
    /* relaxed: only the number matters. If spreading fails for lack of memory, the next call tries again. */
    if (atomic_load_explicit(&source->references.cells, memory_order_relaxed) == NULL &&
        atomic_fetch_add_explicit(&source->uses, 1, memory_order_relaxed) >= USES_TO_SPREAD)
        (void)striped_count_spread(&source->references, &source->allocator);
}

void source_unreference(struct ingot_source *source)
{
    if (striped_count_drop(&source->references))
        destroy_source(source);
}

bool source_equals(const struct ingot_source *a, const struct ingot_source *b)
{
    return a == b || (a->kind == b->kind && a->size == b->size && a->hash.low == b->hash.low &&
                      a->hash.high == b->hash.high && memcmp(a->bytes, b->bytes, a->size) == 0);
}

void source_get_digest(const struct ingot_source *source, uint8_t digest[DIGEST_SIZE])
{
    /* sources are never const objects, because ingot_source_create makes all of them on the heap */
    struct ingot_source *shared = (struct ingot_source *)source;
    if (atomic_load_explicit(&shared->digest_state, memory_order_acquire) == 2) {
        memcpy(digest, shared->digest, DIGEST_SIZE);
        return;
    }
    digest_of(source->size, source->bytes, digest);
    int none = 0;
    if (atomic_compare_exchange_strong_explicit(&shared->digest_state, &none, 1, memory_order_relaxed,
                                                memory_order_relaxed)) {
        memcpy(shared->digest, digest, DIGEST_SIZE);
        atomic_store_explicit(&shared->digest_state, 2, memory_order_release); /* pairs with the acquire above */
    }
}
