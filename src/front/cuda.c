/*
 * cuda.c - replaces nvrtcCompileProgram and cuModuleLoadData.
 *
 * The driver has no call that compiles CUDA C++, so the backend compiles with NVRTC also without a cache.
 */
#include <ingot/backend.h>
#include <ingot/cuda.h>
#include <stdlib.h>
#include <string.h>

#include "backends/cuda/backend.h"
#include "backends/cuda/state.h"
#include "core/context/context.h"
#include "front/pending.h"

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

/* Writes a word so that the backend's splitting of options returns it unchanged. Returns the end of the text. */
static char *put_word(char *to, const char *word)
{
    *to++ = '\'';
    for (; *word != '\0'; ++word) {
        if (*word == '\'') {
            memcpy(to, "'\\'", 3);
            to += 3;
        }
        *to++ = *word;
    }
    *to++ = '\'';
    return to;
}

/* Joins options to one text, which the caller frees. Plain words stay as they are, so that the text is readable. */
static char *join_options(size_t count, const char *const *options)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=+./,:@%";
    size_t size = 1;
    for (size_t i = 0; i < count; ++i)
        size += 4 * strlen(options[i]) + 3;
    char *text = malloc(size);
    char *to = text;
    for (size_t i = 0; i < count && text != NULL; ++i) {
        const size_t length = strlen(options[i]);
        if (length != 0 && strspn(options[i], plain) == length) {
            memcpy(to, options[i], length);
            to += length;
        } else {
            to = put_word(to, options[i]);
        }
        *to++ = ' ';
    }
    if (text != NULL)
        *to = '\0';
    return text;
}

/* The key of a target is its CUdevice, which is the same for all contexts of that GPU. */
static ingot_status_t make_context(struct ingot_cache *cache, CUcontext native, struct ingot_context **context)
{
    const ingot_allocator_t allocator = {NULL, NULL, NULL};
    struct cuda_state *state = NULL;
    ingot_status_t status = cuda_state_create(&state, &allocator, 1, &native);
    if (status != INGOT_SUCCESS)
        return status;
    const CUdevice *key = &state->devices[0].native;
    struct ingot_context *target = cache != NULL ? targets_find(&cache->targets, &cuda_ops, sizeof(*key), key) : NULL;
    if (target == NULL)
        status = request_make_target(cache, &cuda_ops, NULL, 1, sizeof(*key), key, &target);
    if (status == INGOT_SUCCESS)
        status = context_create_over(context, target, state);
    if (status != INGOT_SUCCESS)
        cuda_state_destroy(state);
    if (target != NULL)
        context_unreference(target);
    return status;
}

/* A module that is wanted, and once it is there, what holds it until it is taken. */
struct loading {
    struct request request;
    CUcontext native;
    struct ingot_context *context;
    struct made_program made;
};

static void forget_module(void *self)
{
    struct loading *own = self;
    request_end(own->context, &own->made);
    own->context = NULL;
    own->made = (struct made_program){NULL, NULL, INGOT_ORIGIN_BUILD};
}

/* Returns the module, which the application then owns, and ends what held it. */
static void take_module(struct loading *loading, ingot_status_t status, CUmodule *module, ingot_origin_t *origin)
{
    if (status == INGOT_SUCCESS)
        *module = rtc_take_module(loading->made.native);
    if (status == INGOT_SUCCESS && origin != NULL)
        *origin = loading->made.origin;
    forget_module(loading);
}

static ingot_status_t open_loading(const void *self, struct ingot_cache *cache, struct request *request,
                                   struct ingot_context **context)
{
    const struct loading *loading = self;
    *request = loading->request;
    request->cache = cache;
    return make_context(cache, loading->native, context);
}

static ingot_status_t get_module(void *self, struct ingot_cache *cache, enum program_miss miss)
{
    struct loading *loading = self;
    struct made_program *made = &loading->made;
    struct request request;
    forget_module(loading);
    ingot_status_t status = open_loading(loading, cache, &request, &loading->context);
    request.miss = miss;
    if (status != INGOT_SUCCESS)
        return status;
    if (cache_storage(cache) != NULL)
        status = request_program(&request, loading->context, made);
    if (status == INGOT_BUSY && miss != PROGRAM_WAIT)
        return status;
    if (made->native == NULL && status != INGOT_BUILD_FAILED) {
        status = request_pass_through(cache, status);
        if (status == INGOT_SUCCESS)
            status = request_build(&request, loading->context, made);
    }
    return status;
}

/* Checks the arguments, and makes a request of them, whose options the caller frees. */
static ingot_status_t take_arguments(struct loading *loading, CUcontext context, const char *source, size_t source_size,
                                     const char *name, const char *const *options, size_t option_count, const void *out)
{
    if (context == NULL || source == NULL || out == NULL)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "context, source or the place for the result is NULL");
    for (size_t i = 0; i < option_count; ++i) {
        if (options == NULL || options[i] == NULL)
            return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "options: option %zu is NULL", i);
    }
    const size_t size = source_size != 0 ? source_size : strlen(source);
    *loading = (struct loading){.native = context,
                                .request = {.kind = is_ptx(size, source) ? INGOT_SOURCE_PTX : INGOT_SOURCE_CUDA_CPP,
                                            .bytes = source,
                                            .size = size,
                                            .name = name,
                                            .options = join_options(option_count, options)}};
    return loading->request.options != NULL
               ? INGOT_SUCCESS
               : ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for %zu options", option_count);
}

ingot_status_t ingot_cache_cuda_load(ingot_cache_t cache, CUcontext context, const char *source, size_t source_size,
                                     const char *name, const char *const *options, size_t option_count,
                                     CUmodule *module, ingot_origin_t *origin)
{
    struct loading loading;
    ingot_status_t status = take_arguments(&loading, context, source, source_size, name, options, option_count, module);
    if (status != INGOT_SUCCESS)
        return status;
    status = get_module(&loading, cache, cache_miss(cache));
    take_module(&loading, status, module, origin);
    free((char *)loading.request.options);
    return status;
}

/* ---- begun programs ---- */

static const struct pending_ops begun_ops = {open_loading, get_module, forget_module, NULL};

ingot_status_t ingot_cache_cuda_begin(ingot_cache_t cache, CUcontext context, const char *source, size_t source_size,
                                      const char *name, const char *const *options, size_t option_count,
                                      ingot_pending_t *pending)
{
    struct loading loading;
    const ingot_status_t status =
        take_arguments(&loading, context, source, source_size, name, options, option_count, pending);
    if (status != INGOT_SUCCESS)
        return status;
    const struct pending_part parts[] = {{offsetof(struct loading, request.name), PENDING_TEXT},
                                         {offsetof(struct loading, request.options), PENDING_TEXT},
                                         {offsetof(struct loading, request.bytes), loading.request.size}};
    void *own = pending_copy(sizeof(loading), &loading, 3, parts);
    free((char *)loading.request.options);
    return pending_begin(pending, cache, &begun_ops, own);
}

ingot_status_t ingot_cache_cuda_take(ingot_pending_t pending, CUmodule *module, ingot_origin_t *origin)
{
    ingot_status_t status = INGOT_SUCCESS;
    struct loading *own = pending_take(pending, &begun_ops, module, &status);
    if (own == NULL)
        return status;
    take_module(own, status, module, origin);
    pending_end(&begun_ops, own);
    return status;
}
