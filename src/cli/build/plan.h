/*
 * plan.h - collects the requests that stores hold, and decides for which devices each is built.
 */
#ifndef INGOT_CLI_BUILD_PLAN_H
#define INGOT_CLI_BUILD_PLAN_H

#include <cjson/cJSON.h>
#include <ingot/private/request.h>
#include <stdbool.h>
#include <stddef.h>

#include "cli/base/base.h"
#include "cli/build/device/device.h"

enum { PLAN_KEY_SIZE = 2 * INGOT_REQUEST_DIGEST_SIZE + 1 };

/* A device that a request was built for, according to the store. */
struct plan_device {
    char *text;      /* as in struct device */
    size_t platform; /* the offset in `text` at which " (PLATFORM)" begins */
};

#define PLAN_OWN SIZE_MAX

/* A namespace of a store or a bundle that holds requests. */
struct plan_source {
    const char *path;
    char *name_space;      /* "": none */
    ingot_storage_t store; /* NULL: not opened by this process */
};

struct plan_request {
    ingot_kept_request_t kept;
    char key[PLAN_KEY_SIZE];     /* its digest in hexadecimal digits */
    char *name_space;            /* in which its results are stored; "": none */
    size_t source;               /* index in the plan's sources, or PLAN_OWN: the store of its results */
    struct plan_device *devices; /* the only devices to build it for; NULL: all devices of its backend */
    size_t device_count;
    bool has_device; /* one of this machine's chosen devices is for it */
};

struct plan {
    struct plan_request *requests; /* the most expensive first */
    size_t request_count;
    struct plan_source *sources;
    size_t source_count;
    const ingot_persist_trust_t *trust;
    uint64_t bad_count;     /* requests that are damaged, or that the policy refuses */
    uint64_t unknown_count; /* of plan_read_stale: results without a request, or whose id does not name one device */
};

/* Adds the requests of directory stores and bundles; a path that is NULL stands for the store of the results. Each is
 * built in its own namespace, unless the options name one. trust: the policy for the seals; it and the paths must
 * outlive the plan. Prints a message for each request that cannot be used. Returns EXIT_DONE; on failure, prints a
 * message and returns another exit_code. */
int plan_read(struct plan *plan, size_t count, char *const *paths, const struct common_options *options,
              const ingot_persist_trust_t *trust);
/* Adds the requests of a store that has their results for some devices, each for these devices. */
int plan_read_stale(struct plan *plan, ingot_storage_t store);

/* Returns the store with the requests and texts of a source. It stays open. */
ingot_status_t plan_open_source(struct plan *plan, size_t source, ingot_storage_t *store);

/* Writes the text of the device that an id names, as in struct device. Returns false unless it names exactly one: the
 * id of a program for several devices differs from the ids for each of them. id: as id_read returns it. */
bool plan_describe_device(const cJSON *id, char text[DEVICE_TEXT_SIZE]);

/* True if the request should be built for `devices->items[device]`. If a device that it was built for does not exist
 * here, the devices of the same platform take its place: a driver may rename a device. */
bool plan_is_for(const struct plan_request *request, size_t device, const struct device_list *devices);

#endif
