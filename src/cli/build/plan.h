/*
 * plan.h - collects the requests that stores hold, and decides for which devices each is built.
 */
#ifndef INGOT_CLI_BUILD_PLAN_H
#define INGOT_CLI_BUILD_PLAN_H

#include <ingot/private/request.h>
#include <stdbool.h>
#include <stddef.h>

enum { PLAN_KEY_SIZE = 2 * INGOT_REQUEST_DIGEST_SIZE + 1 };

/* A device that a request was built for, according to the store. */
struct plan_device {
    char *text;      /* as in struct device */
    size_t platform; /* the offset in `text` at which " (PLATFORM)" begins */
};

struct plan_request {
    ingot_kept_request_t kept;
    char key[PLAN_KEY_SIZE];     /* its digest in hexadecimal digits */
    size_t name_space;           /* index in the plan's namespaces, of that in which its results are stored */
    size_t place;                /* of that in which it lies itself */
    size_t source;               /* index in the plan's paths */
    struct plan_device *devices; /* the only devices to build it for; NULL: all devices of its backend */
    size_t device_count;
};

struct plan {
    struct plan_request *requests; /* the most expensive first */
    size_t request_count;
    char **name_spaces; /* those in which results are stored and requests lie; "": none */
    size_t name_space_count;
    char *const *paths; /* the stores that hold the requests; NULL: the store of the results */
    const ingot_persist_trust_t *trust;
    uint64_t bad_count;     /* requests that are damaged, or that the policy refuses */
    uint64_t unknown_count; /* of plan_read_stale: results without a request, or whose id does not name one device */
};

/* Adds the requests of directory stores and bundles. Each is built in its own namespace unless
 * name_space is not NULL. trust: the policy for their seals; it and the paths must outlive the plan. Prints a message
 * for each that cannot be used. Returns EXIT_DONE; on failure, prints a message and returns another exit_code. */
int plan_read(struct plan *plan, size_t count, char *const *paths, const char *name_space,
              const ingot_persist_trust_t *trust);
/* Adds the requests of a store that has their results for some devices, each for these devices. */
int plan_read_stale(struct plan *plan, ingot_storage_t store);

/* Opens one of the plan's paths, with the requests and texts of this namespace ("": those of all, and texts of none).
 */
ingot_status_t plan_open_source(const struct plan *plan, size_t source, const char *name_space, ingot_storage_t *store);

/* True if the request should be built for `devices[device]`. If a device that it was built for does not exist here, the
 * devices of the same platform take its place: a driver may rename a device. */
bool plan_is_for(const struct plan_request *request, size_t device, size_t device_count, char *const *devices);

#endif
