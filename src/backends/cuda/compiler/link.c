/*
 * link.c - links pieces of code, including PTX, into complete machine code.
 *
 * nvJitLink (util/nvjitlink.h) comes with the toolkit and makes the same code on every machine.
 */
#include "backends/cuda/compiler/link.h"

#include <string.h>

static ingot_status_t take_link_log(struct cuda_link *link, int (*get_size)(void *, size_t *),
                                    int (*get)(void *, char *))
{
    size_t size = 0;
    struct rtc_bytes text = {0, NULL};
    if (get_size(link->handle, &size) != NVJITLINK_SUCCESS || size == 0)
        return INGOT_SUCCESS;
    ingot_status_t status = rtc_bytes_init(&text, link->allocator, size + 1); /* with room for a NUL */
    if (status != INGOT_SUCCESS)
        return status;
    if (get(link->handle, (char *)text.bytes) == NVJITLINK_SUCCESS)
        status = ingot_sink_write_log(link->log, (const char *)text.bytes);
    rtc_bytes_fini(&text, link->allocator);
    return status;
}

/* Reports a failed call to nvJitLink. If the error is not an internal one, nvJitLink has refused the options or the
 * input. */
static ingot_status_t fail_link_call(struct cuda_link *link, const char *call, int result)
{
    const bool is_internal = result == NVJITLINK_ERROR_INTERNAL || result == NVJITLINK_ERROR_THREADPOOL;
    ingot_status_t status = INGOT_SUCCESS;
    if (link->handle != NULL)
        status = take_link_log(link, link->linker.error_log_size, link->linker.error_log);
    if (status != INGOT_SUCCESS)
        return status;
    /* nvJitLinkComplete also returns NVJITLINK_ERROR_INTERNAL for an undefined function, which the log names */
    if (is_internal && strcmp(call, "nvJitLinkComplete") != 0)
        return ingot_set_error(INGOT_BACKEND_ERROR, result, "%s: error %d", call, result);
    return ingot_refuse_program(link->log, result, "%s: error %d", call, result);
}

ingot_status_t cuda_link_init(struct cuda_link *link, const ingot_allocator_t *allocator, unsigned driver_major,
                              const struct rtc_options *options, ingot_sink_t *log)
{
    memset(link, 0, sizeof(*link));
    link->allocator = allocator;
    link->log = log;
    if (!nvjitlink_open(driver_major, &link->linker))
        return ingot_set_error_detail(INGOT_UNIMPLEMENTED, "no libnvJitLink of version %u to %u was found",
                                      NVJITLINK_OLDEST_MAJOR, driver_major);
    const int result = link->linker.create(&link->handle, (uint32_t)options->count, options->words);
    if (result == NVJITLINK_SUCCESS)
        return INGOT_SUCCESS;
    link->handle = NULL;
    if (result == NVJITLINK_ERROR_UNRECOGNIZED_OPTION)
        return ingot_refuse_program(log, 0, "nvJitLink does not know one of its options");
    return fail_link_call(link, "nvJitLinkCreate", result);
}

void cuda_link_fini(struct cuda_link *link)
{
    if (link->handle != NULL)
        (void)link->linker.destroy(&link->handle);
}

ingot_status_t cuda_link_add(struct cuda_link *link, nvJitLinkInputType type, size_t size, const void *bytes,
                             const char *name)
{
    const int result =
        link->linker.add_data(link->handle, (int)type, bytes, size, name[0] != '\0' ? name : "default_program");
    return result == NVJITLINK_SUCCESS ? INGOT_SUCCESS : fail_link_call(link, "nvJitLinkAddData", result);
}

ingot_status_t cuda_link_finish(struct cuda_link *link, struct rtc_bytes *cubin)
{
    size_t size = 0;
    int result = link->linker.complete(link->handle);
    if (result != NVJITLINK_SUCCESS)
        return fail_link_call(link, "nvJitLinkComplete", result);
    ingot_status_t status = take_link_log(link, link->linker.info_log_size, link->linker.info_log);
    if (status != INGOT_SUCCESS)
        return status;
    result = link->linker.cubin_size(link->handle, &size);
    if (result != NVJITLINK_SUCCESS || size == 0)
        return fail_link_call(link, "nvJitLinkGetLinkedCubinSize", result);
    status = rtc_bytes_init(cubin, link->allocator, size);
    if (status != INGOT_SUCCESS)
        return status;
    result = link->linker.cubin(link->handle, cubin->bytes);
    if (result == NVJITLINK_SUCCESS)
        return INGOT_SUCCESS;
    rtc_bytes_fini(cubin, link->allocator);
    return fail_link_call(link, "nvJitLinkGetLinkedCubin", result);
}
