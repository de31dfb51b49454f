/*
 * rtc.h - modules of the backends with a run-time compiler (CUDA, HIP), for their functions.
 *
 * Their drivers have no call that compiles C++, so the backend compiles also without a cache.
 */
#ifndef INGOT_FRONT_RTC_H
#define INGOT_FRONT_RTC_H

#include "front/pending.h"

struct rtc_loading;

/* What distinguishes a backend. */
struct rtc_front {
    const ingot_backend_ops_t *ops;
    ingot_source_kind_t (*kind_of)(size_t size, const char *source);
    /* Makes the backend's state for the device, and finds in it what identifies the device in the process. */
    ingot_status_t (*make_state)(const struct rtc_loading *loading, void **state, size_t *key_size, const void **key);
    ingot_source_kind_t machine_code; /* of sources that nobody compiles, so they are not cached */
};

/* A module that is wanted, and once it is there, what holds it until it is taken. */
struct rtc_loading {
    const struct rtc_front *front;
    void *native; /* the native context, or NULL */
    int device;   /* the number of the device, without a native context */
    struct request request;
    struct ingot_context *context;
    struct made_program made;
};

/* The arguments of the application. */
struct rtc_arguments {
    const char *source;
    size_t source_size;
    const char *name;
    const char *const *options;
    size_t option_count;
};

/* Returns a module, which the application then owns. `out` is the application's place for it. */
ingot_status_t rtc_front_load(struct rtc_loading *loading, struct ingot_cache *cache,
                              const struct rtc_arguments *arguments, const void *out, void **module,
                              ingot_origin_t *origin);
/* Begins a module. `ops` is the backend's table. */
ingot_status_t rtc_front_begin(struct rtc_loading *loading, struct ingot_cache *cache,
                               const struct rtc_arguments *arguments, const struct pending_ops *ops,
                               ingot_pending_t *pending);
ingot_status_t rtc_front_take(ingot_pending_t pending, const struct pending_ops *ops, const void *out, void **module,
                              ingot_origin_t *origin);

/* Functions of the table of begun modules. Each backend has a table of its own, which identifies it. */
ingot_status_t rtc_front_open(const void *self, struct ingot_cache *cache, struct request *request,
                              struct ingot_context **context);
ingot_status_t rtc_front_get(void *self, struct ingot_cache *cache, enum program_miss miss);
void rtc_front_forget(void *self);
#define RTC_PENDING_OPS                                                                                                \
    {                                                                                                                  \
        rtc_front_open, rtc_front_get, rtc_front_forget, NULL                                                          \
    }

#endif
