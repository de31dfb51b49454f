/*
 * hip.c - replaces hiprtcCompileProgram and hipModuleLoadData.
 */
#include <ingot/backend.h>
#include <ingot/hip.h>
#include <string.h>

#include "backends/hip/backend.h"
#include "backends/hip/state.h"
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

static ingot_status_t make_state(const struct rtc_loading *loading, void **state, size_t *key_size, const void **key)
{
    const ingot_allocator_t allocator = {NULL, NULL, NULL};
    struct hip_state *made = NULL;
    const ingot_status_t status = hip_state_create(&made, &allocator, 1, &loading->device, NULL);
    if (status == INGOT_SUCCESS) {
        *state = made;
        *key = &made->devices[0].number;
        *key_size = sizeof(made->devices[0].number);
    }
    return status;
}

static const struct rtc_front front = {
    .ops = &hip_ops, .kind_of = get_kind, .make_state = make_state, .machine_code = INGOT_SOURCE_HIP_CODE};
static const struct pending_ops begun_ops = RTC_PENDING_OPS;

static ingot_status_t init_loading(struct rtc_loading *loading, int device)
{
    *loading = (struct rtc_loading){.front = &front, .device = device};
    return device >= 0 ? INGOT_SUCCESS : ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "device is %d", device);
}

ingot_status_t ingot_cache_hip_load(ingot_cache_t cache, int device, const char *source, size_t source_size,
                                    const char *name, const char *const *options, size_t option_count,
                                    hipModule_t *module, ingot_origin_t *origin)
{
    const struct rtc_arguments arguments = {source, source_size, name, options, option_count};
    struct rtc_loading loading;
    void *made = NULL;
    ingot_status_t status = init_loading(&loading, device);
    if (status == INGOT_SUCCESS)
        status = rtc_front_load(&loading, cache, &arguments, module, &made, origin);
    if (status == INGOT_SUCCESS)
        *module = made;
    return status;
}

ingot_status_t ingot_cache_hip_begin(ingot_cache_t cache, int device, const char *source, size_t source_size,
                                     const char *name, const char *const *options, size_t option_count,
                                     ingot_pending_t *pending)
{
    const struct rtc_arguments arguments = {source, source_size, name, options, option_count};
    struct rtc_loading loading;
    const ingot_status_t status = init_loading(&loading, device);
    return status == INGOT_SUCCESS ? rtc_front_begin(&loading, cache, &arguments, &begun_ops, pending) : status;
}

ingot_status_t ingot_cache_hip_take(ingot_pending_t pending, hipModule_t *module, ingot_origin_t *origin)
{
    void *made = NULL;
    const ingot_status_t status = rtc_front_take(pending, &begun_ops, module, &made, origin);
    if (status == INGOT_SUCCESS)
        *module = made;
    return status;
}
