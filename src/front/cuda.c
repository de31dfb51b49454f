/*
 * cuda.c - replaces nvrtcCompileProgram and cuModuleLoadData.
 */
#include <ingot/backend.h>
#include <ingot/cuda.h>
#include <string.h>

#include "backends/cuda/backend.h"
#include "front/rtc.h"

/* True if the text is PTX: its first word, after comments, is the directive .version. */
static bool is_ptx(size_t size, const char *text)
{
    static const char directive[] = ".version";
    const char *const end = text + size;
    while (text < end) {
        const char *close = NULL;
        if (strchr(" \t\r\n\v\f", *text) != NULL) {
            ++text;
        } else if (end - text >= 2 && text[0] == '/' && text[1] == '/') {
            close = memchr(text, '\n', (size_t)(end - text));
            text = close != NULL ? close + 1 : end;
        } else if (end - text >= 4 && text[0] == '/' && text[1] == '*') {
            close = memmem(text + 2, (size_t)(end - text) - 2, "*/", 2);
            text = close != NULL ? close + 2 : end;
        } else {
            break;
        }
    }
    return (size_t)(end - text) >= strlen(directive) && memcmp(text, directive, strlen(directive)) == 0;
}

static ingot_source_kind_t get_kind(size_t size, const char *source)
{
    return is_ptx(size, source) ? INGOT_SOURCE_PTX : INGOT_SOURCE_CUDA_CPP;
}

static ingot_status_t make_state(const struct rtc_loading *loading, struct rtc_state **state)
{
    const ingot_allocator_t allocator = {NULL, NULL, NULL};
    const CUcontext context = loading->native;
    return rtc_state_create(&cuda_vendor, &allocator, 1, &context, state);
}

static const struct rtc_front front = {.kind_of = get_kind, .make_state = make_state, .begun_ops = RTC_PENDING_OPS};

ingot_status_t ingot_cache_cuda_load(ingot_cache_t cache, CUcontext context, const char *source, size_t source_size,
                                     const char *name, const char *const *options, size_t option_count,
                                     CUmodule *module, ingot_origin_t *origin)
{
    struct rtc_loading loading = {
        .front = &front, .native = context, .request = {.bytes = source, .size = source_size, .name = name}};
    if (context == NULL)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "context is NULL");
    return rtc_front_load(&loading, cache, option_count, options, module, origin);
}

ingot_status_t ingot_cache_cuda_begin(ingot_cache_t cache, CUcontext context, const char *source, size_t source_size,
                                      const char *name, const char *const *options, size_t option_count,
                                      ingot_pending_t *pending)
{
    struct rtc_loading loading = {
        .front = &front, .native = context, .request = {.bytes = source, .size = source_size, .name = name}};
    if (context == NULL)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "context is NULL");
    return rtc_front_begin(&loading, cache, option_count, options, pending);
}

ingot_status_t ingot_cache_cuda_take(ingot_pending_t pending, CUmodule *module, ingot_origin_t *origin)
{
    return pending_take(pending, &front.begun_ops, module, origin);
}
