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
#include "front/request.h"

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

static ingot_status_t load_cuda_module(const struct request *request, CUcontext native, CUmodule *module,
                                       ingot_origin_t *origin)
{
    struct made_program made = {NULL, NULL, INGOT_ORIGIN_BUILD};
    struct ingot_context *context = NULL;
    ingot_status_t status = make_context(request->cache, native, &context);
    if (status != INGOT_SUCCESS)
        return status;
    if (cache_storage(request->cache) != NULL)
        status = request_program(request, context, &made);
    if (made.native == NULL && status != INGOT_BUILD_FAILED) {
        status = request_pass_through(request->cache, status);
        if (status == INGOT_SUCCESS)
            status = request_build(request, context, &made);
    }
    if (status == INGOT_SUCCESS) {
        *module = cuda_take_module(made.native);
        *origin = made.origin;
    }
    request_end(context, &made);
    return status;
}

static ingot_status_t check_module_arguments(CUcontext context, const char *source, const char *const *options,
                                             size_t option_count, const CUmodule *module)
{
    if (context == NULL || source == NULL || module == NULL)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "%s is NULL",
                                      context == NULL  ? "context"
                                      : source == NULL ? "source"
                                                       : "module");
    for (size_t i = 0; i < option_count; ++i) {
        if (options == NULL || options[i] == NULL)
            return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "options: option %zu is NULL", i);
    }
    return INGOT_SUCCESS;
}

ingot_status_t ingot_cache_cuda_load(ingot_cache_t cache, CUcontext context, const char *source, size_t source_size,
                                     const char *name, const char *const *options, size_t option_count,
                                     CUmodule *module, ingot_origin_t *origin)
{
    ingot_origin_t found = INGOT_ORIGIN_BUILD;
    ingot_status_t status = check_module_arguments(context, source, options, option_count, module);
    if (status != INGOT_SUCCESS)
        return status;
    char *text = join_options(option_count, options);
    if (text == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for %zu options", option_count);
    const size_t size = source_size != 0 ? source_size : strlen(source);
    const struct request request = {.cache = cache,
                                    .kind = is_ptx(size, source) ? INGOT_SOURCE_PTX : INGOT_SOURCE_CUDA_CPP,
                                    .bytes = source,
                                    .size = size,
                                    .name = name,
                                    .options = text};
    status = load_cuda_module(&request, context, module, &found);
    free(text);
    if (status == INGOT_SUCCESS && origin != NULL)
        *origin = found;
    return status;
}
