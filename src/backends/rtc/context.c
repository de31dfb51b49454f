/*
 * context.c - creates an Ingot context for devices, and its state.
 */
#include "backends/rtc/vendor.h"

void rtc_destroy(void *opaque)
{
    struct rtc_state *state = opaque;
    if (state == NULL)
        return;
    const ingot_allocator_t allocator = state->allocator;
    ingot_deallocate(&allocator, state, state->size);
}

int rtc_accepts(void *opaque, ingot_source_kind_t kind)
{
    const struct rtc_vendor *vendor = ((const struct rtc_state *)opaque)->vendor;
    return kind == vendor->kinds[0] || kind == vendor->kinds[1];
}

ingot_status_t rtc_state_create(const struct rtc_vendor *vendor, const ingot_allocator_t *allocator, uint32_t count,
                                const void *natives, struct rtc_state **out)
{
    const size_t size = vendor->state_size + count * sizeof(struct rtc_device);
    struct rtc_state *state = ingot_allocate(allocator, size);
    if (state == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for a context of %u devices", (unsigned)count);
    state->vendor = vendor;
    state->allocator = *allocator;
    state->size = size;
    state->device_count = count;
    state->devices = (struct rtc_device *)(void *)((char *)state + vendor->state_size);
    const ingot_status_t status = vendor->init(state, natives);
    if (status == INGOT_SUCCESS)
        *out = state;
    else
        rtc_destroy(state);
    return status;
}

ingot_status_t rtc_context_create(const struct rtc_vendor *vendor, ingot_context_t *context, uint32_t count,
                                  const void *natives, const ingot_context_info_t *info)
{
    const ingot_allocator_t allocator = ingot_context_info_get_allocator(info);
    struct rtc_state *state = NULL;
    ingot_status_t status = rtc_state_create(vendor, &allocator, count, natives, &state);
    if (status != INGOT_SUCCESS)
        return status;
    status = ingot_context_create(context, vendor->ops, state, count, info);
    if (status != INGOT_SUCCESS)
        rtc_destroy(state);
    return status;
}

ingot_status_t rtc_fail(const struct rtc_state *state, ingot_status_t otherwise, const char *call, int result)
{
    const ingot_status_t status = result == RTC_DRIVER_OUT_OF_MEMORY ? INGOT_OUT_OF_MEMORY : otherwise;
    const char *name = state->vendor->error_name(state, result);
    return ingot_set_error(status, (int64_t)result, "%s%s: %s (%d)", state->vendor->prefix, call,
                           name != NULL ? name : "unknown result", result);
}
