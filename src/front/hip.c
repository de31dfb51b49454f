/*
 * hip.c - replaces hiprtcCompileProgram and hipModuleLoadData.
 */
#include <ingot/backend.h>
#include <ingot/hip.h>
#include <string.h>

#include "backends/hip/backend.h"
#include "front/rtc.h"

/* Compressed fat binaries are recognized, so that they are refused as such. */
static ingot_source_kind_t get_kind(size_t size, const char *source)
{
    static const char *const beginnings[] = {"\177ELF", "__CLANG_OFFLOAD_BUNDLE__", "CCOB"};
    for (size_t i = 0; i < sizeof(beginnings) / sizeof(beginnings[0]); ++i) {
        if (size >= strlen(beginnings[i]) && memcmp(source, beginnings[i], strlen(beginnings[i])) == 0)
            return INGOT_SOURCE_HIP_CODE;
    }
    return INGOT_SOURCE_HIP_CPP;
}

static ingot_status_t make_state(const struct rtc_loading *loading, struct rtc_state **state)
{
    const ingot_allocator_t allocator = {NULL, NULL, NULL};
    const struct hip_natives natives = {&loading->device, NULL};
    return rtc_state_create(&hip_vendor, &allocator, 1, &natives, state);
}

static const struct rtc_front front = {
    .kind_of = get_kind, .make_state = make_state, .machine_code = INGOT_SOURCE_HIP_CODE, .begun_ops = RTC_PENDING_OPS};

ingot_status_t ingot_cache_hip_load(ingot_cache_t cache, int device, const char *source, size_t source_size,
                                    const char *name, const char *const *options, size_t option_count,
                                    hipModule_t *module, ingot_origin_t *origin)
{
    struct rtc_loading loading = {
        .front = &front, .device = device, .request = {.bytes = source, .size = source_size, .name = name}};
    if (device < 0)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "device is %d", device);
    return rtc_front_load(&loading, cache, option_count, options, module, origin);
}

ingot_status_t ingot_cache_hip_begin(ingot_cache_t cache, int device, const char *source, size_t source_size,
                                     const char *name, const char *const *options, size_t option_count,
                                     ingot_pending_t *pending)
{
    struct rtc_loading loading = {
        .front = &front, .device = device, .request = {.bytes = source, .size = source_size, .name = name}};
    if (device < 0)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "device is %d", device);
    return rtc_front_begin(&loading, cache, option_count, options, pending);
}

ingot_status_t ingot_cache_hip_take(ingot_pending_t pending, hipModule_t *module, ingot_origin_t *origin)
{
    return pending_take(pending, &front.begun_ops, module, origin);
}
