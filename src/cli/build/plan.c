/*
 * plan.c - reads the requests of stores; see build.h.
 *
 * A result belongs to the request whose digest is in its id. The id also has the fields from which device_add makes the
 * texts of this machine's devices. They do not depend on the driver's version, so a result for another driver still
 * tells for which device its request is wanted.
 */
#include "cli/build/build.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/base.h"
#include "cli/build/device/device.h"
#include "cli/store/store.h"
#include "util/hex.h"

/* The state of a visit to a store. */
struct visit {
    struct plan *plan;
    ingot_storage_t store;
    const char *path;       /* NULL: the store of the results */
    const char *name_space; /* of all results; NULL: each request's own */
};

/* ---- sources of requests ---- */

ingot_status_t plan_open_source(struct plan *plan, size_t source, ingot_storage_t own, ingot_storage_t *store)
{
    struct plan_source *opened = &plan->sources[source];
    ingot_status_t status = INGOT_SUCCESS;
    if (opened->path != NULL && opened->store == NULL)
        status = store_open_source(&opened->store, opened->path, opened->name_space, plan->trust);
    *store = opened->path != NULL ? opened->store : own;
    return status;
}

/* ---- requests ---- */

/* Adds a request of a store to the plan. An entry in a namespace belongs there; in a bundle or on a server, only the
 * request itself says where it belongs. */
static int take_request(const ingot_persist_entry_t *entry, void *user)
{
    struct visit *visit = user;
    struct plan *plan = visit->plan;
    const char *place = entry->name_space;
    ingot_buffer_t blob = INGOT_BUFFER_INIT;
    struct plan_request added = {.source = 0};
    if (entry->id == NULL || ingot_request_is_id(entry->id_size, entry->id) == 0)
        return 1;
    ingot_status_t status = ingot_persist_load_entry(visit->store, entry, 0, &blob);
    if (status == INGOT_SUCCESS)
        status = ingot_request_open(&added.kept, entry->id_size, entry->id, &blob);
    store_release_blob(&blob);
    if (status != INGOT_SUCCESS) {
        ++plan->bad_count;
        entry_tell_failure(entry, "leaving out", status);
        return 1;
    }
    added.name_space = memory_copy_text(visit->name_space != NULL ? visit->name_space
                                        : place[0] != '\0'        ? place
                                                                  : added.kept.name_space);
    hex_put(added.key, INGOT_REQUEST_DIGEST_SIZE, added.kept.digest);
    while (added.source < plan->source_count && (plan->sources[added.source].path != visit->path ||
                                                 strcmp(plan->sources[added.source].name_space, place) != 0))
        ++added.source;
    if (added.source == plan->source_count) {
        plan->sources = memory_grow(plan->sources, plan->source_count, sizeof(*plan->sources));
        plan->sources[plan->source_count++] = (struct plan_source){visit->path, memory_copy_text(place), NULL};
    }
    plan->requests = memory_grow(plan->requests, plan->request_count, sizeof(*plan->requests));
    plan->requests[plan->request_count++] = added;
    return 1;
}

static int compare_requests(const void *a, const void *b)
{
    const struct plan_request *left = a;
    const struct plan_request *right = b;
    const int order = strcmp(left->key, right->key);
    const int order_of_spaces = order == 0 ? strcmp(left->name_space, right->name_space) : order;
    return order_of_spaces != 0 ? order_of_spaces : strcmp(left->kept.backend, right->kept.backend);
}

static int compare_costs(const void *a, const void *b)
{
    const struct plan_request *left = a;
    const struct plan_request *right = b;
    if (left->kept.build_time_ms != right->kept.build_time_ms)
        return left->kept.build_time_ms < right->kept.build_time_ms ? 1 : -1;
    return compare_requests(a, b); /* so that the order does not vary */
}

static void sort_requests(struct plan *plan, int (*compare)(const void *a, const void *b))
{
    if (plan->request_count > 1)
        qsort(plan->requests, plan->request_count, sizeof(*plan->requests), compare);
}

/* Drops requests that several stores have, and if `needs_devices`, those that no result has. */
static void drop_requests(struct plan *plan, bool needs_devices)
{
    size_t kept = 0;
    sort_requests(plan, compare_requests);
    for (size_t i = 0; i < plan->request_count; ++i) {
        if ((kept != 0 && compare_requests(&plan->requests[kept - 1], &plan->requests[i]) == 0) ||
            (needs_devices && plan->requests[i].devices == NULL))
            ingot_request_close(&plan->requests[i].kept);
        else
            plan->requests[kept++] = plan->requests[i];
    }
    plan->request_count = kept;
}

/* ---- results, which tell the devices ---- */

/* Returns the name of the platform as device_add gets it, or NULL if the id does not name it. */
static const char *platform_of(const cJSON *id, const char *backend)
{
    if (strcmp(backend, "level_zero") == 0)
        return "Level Zero";
    if (strcmp(backend, "hip") == 0)
        return "HIP";
    return strcmp(backend, "cuda") == 0 ? "CUDA" : json_text(id, "device[0].platform_name");
}

bool plan_describe_device(const cJSON *id, char text[DEVICE_TEXT_SIZE])
{
    const char *backend = json_text(id, "backend");
    const char *name = json_text(id, "device[0].device_name");
    const char *platform = backend != NULL ? platform_of(id, backend) : NULL;
    if (name == NULL || platform == NULL || json_text(id, "device[1].device_name") != NULL)
        return false;
    (void)snprintf(text, DEVICE_TEXT_SIZE, "%s: %s (%s)", backend, name, platform);
    return true;
}

/* Adds the device of a result to its request, unless the request has it. */
static int take_result(const ingot_persist_entry_t *entry, void *user)
{
    struct plan *plan = ((struct visit *)user)->plan;
    char text[DEVICE_TEXT_SIZE] = "";
    size_t i = 0;
    if (entry->status != INGOT_SUCCESS || !id_is_of_kind(entry->id_size, entry->id, "program"))
        return 1;
    cJSON *id = id_read(entry->id_size, entry->id);
    const char *digest = json_text(id, "request.blake2b");
    const char *backend = json_text(id, "backend");
    struct plan_request wanted = {.name_space = (char *)entry->name_space}; /* only for comparing */
    (void)snprintf(wanted.key, sizeof(wanted.key), "%s", digest != NULL ? digest : "");
    (void)snprintf(wanted.kept.backend, sizeof(wanted.kept.backend), "%s", backend != NULL ? backend : "");
    struct plan_request *request = plan->request_count != 0 ? bsearch(&wanted, plan->requests, plan->request_count,
                                                                      sizeof(wanted), compare_requests)
                                                            : NULL;
    const bool is_known = request != NULL && plan_describe_device(id, text);
    plan->unknown_count += !is_known;
    while (is_known && i < request->device_count && strcmp(request->devices[i].text, text) != 0)
        ++i;
    if (is_known && i == request->device_count) {
        const size_t end = strlen(platform_of(id, request->kept.backend)) + strlen(" ()");
        request->devices = memory_grow(request->devices, request->device_count, sizeof(*request->devices));
        request->devices[request->device_count++] =
            (struct plan_device){memory_copy_text(text), strlen(text) > end ? strlen(text) - end : 0};
    }
    cJSON_Delete(id);
    return 1;
}

/* ---- the stores ---- */

int plan_read(struct plan *plan, const struct text_list *paths, const struct common_options *options,
              const ingot_persist_trust_t *trust, bool is_stale)
{
    int code = EXIT_DONE;
    *plan = (struct plan){.trust = trust};
    for (size_t i = 0; i < paths->count && code == EXIT_DONE; ++i) {
        struct visit visit = {.plan = plan, .path = paths->items[i], .name_space = options->name_space};
        ingot_status_t status = INGOT_SUCCESS;
        if (visit.path == NULL)
            code = store_open(&visit.store, options, STORE_READ, NULL);
        else
            status = store_open_source(&visit.store, visit.path, "", trust);
        if (status != INGOT_SUCCESS) {
            store_tell_failure(status, "%s", visit.path);
            return EXIT_NO_STORE;
        }
        if (code == EXIT_DONE)
            code = entry_visit_all(visit.store, take_request, &visit);
        if (code == EXIT_DONE && is_stale) {
            drop_requests(plan, false); /* take_result needs them in order */
            code = entry_visit_all(visit.store, take_result, &visit);
        }
        ingot_storage_release(visit.store);
    }
    drop_requests(plan, is_stale);
    sort_requests(plan, compare_costs);
    return code;
}

/* ---- devices ---- */

bool plan_is_for(const struct plan_request *request, size_t device, const struct device_list *devices)
{
    const struct device *candidate = &devices->items[device];
    if (strcmp(candidate->backend->name, request->kept.backend) != 0)
        return false;
    for (size_t i = 0; i < request->device_count; ++i) {
        const struct plan_device *known = &request->devices[i];
        size_t listed = 0;
        while (listed < devices->count && strcmp(devices->items[listed].text, known->text) != 0)
            ++listed;
        if (strcmp(known->text, candidate->text) == 0 ||
            (listed == devices->count && text_ends_in(candidate->text, known->text + known->platform)))
            return true;
    }
    return request->devices == NULL;
}
