/*
 * rtc.c - modules of the backends with a run-time compiler; see rtc.h.
 */
#include "front/rtc.h"

#include <ingot/backend.h>
#include <stdlib.h>
#include <string.h>

#include "core/context/context.h"

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

static ingot_status_t make_context(const struct rtc_loading *loading, struct ingot_cache *cache,
                                   struct ingot_context **context)
{
    struct rtc_state *state = NULL;
    const ingot_status_t status = loading->front->make_state(loading, &state);
    if (status != INGOT_SUCCESS)
        return status;
    const int *key = &state->devices[0].number;
    const struct request_state of = {
        .ops = state->vendor->ops, .state = state, .device_count = 1, .key_size = sizeof(*key), .key = key};
    return request_make_context(cache, &of, context);
}

void rtc_front_forget(void *self)
{
    struct rtc_loading *own = self;
    request_end(own->context, &own->made);
    own->context = NULL;
    own->made = (struct made_program){NULL, NULL, INGOT_ORIGIN_BUILD};
}

void rtc_front_give(void *self, ingot_status_t status, void *module, ingot_origin_t *origin)
{
    struct rtc_loading *loading = self;
    if (status == INGOT_SUCCESS)
        rtc_take_module(loading->made.native, module);
    if (status == INGOT_SUCCESS && origin != NULL)
        *origin = loading->made.origin;
    rtc_front_forget(loading);
}

static bool is_machine_code(const struct rtc_loading *loading)
{
    return loading->request.kind == loading->front->machine_code;
}

ingot_status_t rtc_front_open(const void *self, struct ingot_cache *cache, struct request *request,
                              struct ingot_context **context)
{
    const struct rtc_loading *loading = self;
    if (is_machine_code(loading))
        return ingot_set_error_detail(INGOT_UNIMPLEMENTED, "machine code is loaded as it is, and not cached");
    *request = loading->request;
    return make_context(loading, cache, context);
}

ingot_status_t rtc_front_get(void *self, struct ingot_cache *cache, enum program_miss miss)
{
    struct rtc_loading *loading = self;
    struct made_program *made = &loading->made;
    const struct request *request = &loading->request;
    rtc_front_forget(loading);
    ingot_status_t status = make_context(loading, cache, &loading->context);
    if (status != INGOT_SUCCESS)
        return status;
    if (is_machine_code(loading))
        return request_build(request, loading->context, made);
    if (cache_storage(cache) != NULL)
        status = request_program(cache, request, miss, loading->context, made);
    if (status == INGOT_BUSY && miss != PROGRAM_WAIT)
        return status;
    if (made->native == NULL && status != INGOT_BUILD_FAILED) {
        status = request_pass_through(cache, status);
        if (status == INGOT_SUCCESS)
            status = request_build(request, loading->context, made);
    }
    return status;
}

/* Checks the arguments, and completes the request, whose options the caller frees. */
static ingot_status_t take_arguments(struct rtc_loading *loading, size_t option_count, const char *const *options,
                                     const void *out)
{
    struct request *request = &loading->request;
    if (request->bytes == NULL || out == NULL)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "source or the place for the result is NULL");
    for (size_t i = 0; i < option_count; ++i) {
        if (options == NULL || options[i] == NULL)
            return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "options: option %zu is NULL", i);
    }
    if (request->size == 0)
        request->size = strlen(request->bytes);
    request->kind = loading->front->kind_of(request->size, request->bytes);
    request->options = join_options(option_count, options);
    return request->options != NULL
               ? INGOT_SUCCESS
               : ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for %zu options", option_count);
}

ingot_status_t rtc_front_load(struct rtc_loading *loading, struct ingot_cache *cache, size_t option_count,
                              const char *const *options, void *module, ingot_origin_t *origin)
{
    ingot_status_t status = take_arguments(loading, option_count, options, module);
    if (status != INGOT_SUCCESS)
        return status;
    status = rtc_front_get(loading, cache, cache_miss(cache));
    rtc_front_give(loading, status, module, origin);
    free((char *)loading->request.options);
    return status;
}

ingot_status_t rtc_front_begin(struct rtc_loading *loading, struct ingot_cache *cache, size_t option_count,
                               const char *const *options, ingot_pending_t *pending)
{
    const ingot_status_t status = take_arguments(loading, option_count, options, pending);
    if (status != INGOT_SUCCESS)
        return status;
    const struct pending_part parts[] = {{offsetof(struct rtc_loading, request.name), PENDING_TEXT},
                                         {offsetof(struct rtc_loading, request.options), PENDING_TEXT},
                                         {offsetof(struct rtc_loading, request.bytes), loading->request.size}};
    void *own = pending_copy(sizeof(*loading), loading, 3, parts);
    free((char *)loading->request.options);
    return pending_begin(pending, cache, &loading->front->begun_ops, own);
}
