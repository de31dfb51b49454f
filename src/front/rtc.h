/*
 * rtc.h - modules of the backends with a run-time compiler (CUDA, HIP), for their functions.
 *
 * Their drivers have no call that compiles C++, so the backend compiles also without a cache.
 */
#ifndef INGOT_FRONT_RTC_H
#define INGOT_FRONT_RTC_H

#include "backends/rtc/vendor.h"
#include "front/pending.h"

struct rtc_loading;

/* What distinguishes a backend. */
struct rtc_front {
    ingot_source_kind_t (*kind_of)(size_t size, const char *source);
    ingot_status_t (*make_state)(const struct rtc_loading *loading, struct rtc_state **state);
    ingot_source_kind_t machine_code; /* of sources that nobody compiles, so they are not cached */
    struct pending_ops begun_ops;     /* RTC_PENDING_OPS; each backend has a table of its own, which identifies it */
};

/* A module that is wanted, and once it is there, what holds it until it is taken. A backend's function sets the first
 * three fields, and the request's bytes, size (0: they are a text that ends in a NUL) and name. */
struct rtc_loading {
    const struct rtc_front *front;
    void *native; /* the native context, or NULL */
    int device;   /* the number of the device, without a native context */
    struct request request;
    struct ingot_context *context;
    struct made_program made;
};

/* Returns a module, which the application then owns. `module` points to a handle of the vendor's type. */
ingot_status_t rtc_front_load(struct rtc_loading *loading, struct ingot_cache *cache, size_t option_count,
                              const char *const *options, void *module, ingot_origin_t *origin);
ingot_status_t rtc_front_begin(struct rtc_loading *loading, struct ingot_cache *cache, size_t option_count,
                               const char *const *options, ingot_pending_t *pending);

ingot_status_t rtc_front_open(const void *self, struct ingot_cache *cache, struct request *request,
                              struct ingot_context **context);
ingot_status_t rtc_front_get(void *self, struct ingot_cache *cache, enum program_miss miss);
/* Gives the module to the application, which then owns it, and ends what held it. */
void rtc_front_give(void *self, ingot_status_t status, void *module, ingot_origin_t *origin);
void rtc_front_forget(void *self);
#define RTC_PENDING_OPS                                                                                                \
    {                                                                                                                  \
        rtc_front_open, rtc_front_get, rtc_front_give, rtc_front_forget, NULL                                          \
    }

#endif
