/*
 * check.c - finds out what is wrong with a server, and how fast it is.
 *
 * Its requests are like those of loads and uploads, except that nothing stops them, because a check must reach the
 * server each time.
 */
#include <ingot/backend.h>
#include <ingot/private/remote.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "remote/object/envelope.h"
#include "remote/object/object_key.h"
#include "remote/tier/tier.h"
#include "util/error_text.h"
#include "util/nanoseconds.h"
#include "util/struct_size.h"

#define BLOB_SIZE (64u * 1024u)
#define ROUND_TRIPS 5
#define KEYS_OF_CLUSTER 32u

#define ID_CAPACITY 320u
#define HOST_CAPACITY 256u

/* What a check stores. */
struct probe_object {
    size_t id_size;
    uint8_t id[ID_CAPACITY];
    uint8_t blob[BLOB_SIZE];
};

/* A check in progress. */
struct check {
    struct tier *tier;
    ingot_remote_report_t *report;
    struct request request; /* the last one */
    uint64_t began_ns;
};

static ingot_status_t fail_check(ingot_remote_report_t *report, ingot_status_t status, const char *sentence)
{
    error_text_copy(report->reason, sizeof(report->reason), sentence);
    return status;
}

/* Begins a request of a step. Returns it. */
static struct request *begin_step(struct check *check, ingot_remote_step_t step)
{
    check->report->step = step;
    check->request = tier_make_request(check->tier);
    check->began_ns = nanoseconds_now();
    return &check->request;
}

/* Ends it, and writes how long it took. */
static ingot_status_t end_step(struct check *check, enum outcome outcome, uint64_t *taken_ns)
{
    if (taken_ns != NULL)
        *taken_ns = nanoseconds_now() - check->began_ns;
    return outcome == OUTCOME_DONE || outcome == OUTCOME_MISSING
               ? INGOT_SUCCESS
               : fail_check(check->report, tier_status_of(outcome), check->request.failure);
}

/* Measures how long the first probe takes, which also connects, and then the shortest round trip. Then asks for many
 * objects that the server lacks: a node of a cluster refuses those that other nodes would have. */
static ingot_status_t check_connection(struct check *check, const struct probe_object *probe)
{
    const struct transport *transport = &check->tier->transport;
    ingot_remote_report_t *report = check->report;
    uint64_t taken_ns = UINT64_MAX;
    uint64_t shortest_ns = UINT64_MAX;
    struct request *request = begin_step(check, INGOT_REMOTE_STEP_CONNECT);
    ingot_status_t status = end_step(check, transport->ops->probe(transport->self, request), &report->connect_ns);
    for (int i = 0; i < ROUND_TRIPS && status == INGOT_SUCCESS; ++i) {
        request = begin_step(check, INGOT_REMOTE_STEP_CONNECT);
        status = end_step(check, transport->ops->probe(transport->self, request), &taken_ns);
        shortest_ns = taken_ns < shortest_ns ? taken_ns : shortest_ns;
    }
    if (status == INGOT_SUCCESS)
        report->round_trip_ns = shortest_ns;
    for (uint8_t i = 0; i < KEYS_OF_CLUSTER && status == INGOT_SUCCESS && transport->ops->leases != NULL; ++i) {
        char key[OBJECT_KEY_CAPACITY];
        uint8_t id[ID_CAPACITY + 1];
        ingot_buffer_t object = INGOT_BUFFER_INIT;
        memcpy(id, probe->id, probe->id_size);
        id[probe->id_size] = i;
        object_key_of(check->tier->name_space, probe->id_size + 1, id, key);
        request = begin_step(check, INGOT_REMOTE_STEP_CONNECT);
        const enum outcome outcome = transport->ops->get(transport->self, request, key, BLOB_SIZE, &object);
        if (outcome == OUTCOME_DONE)
            object.release(&object);
        status = end_step(check, outcome, NULL);
    }
    return status;
}

/* Stores the blob, compares what the server returns, and removes it. A tier that only reads asks for it. */
static ingot_status_t check_object(struct check *check, const struct probe_object *probe, bool is_written)
{
    const struct transport *transport = &check->tier->transport;
    ingot_remote_report_t *report = check->report;
    char key[OBJECT_KEY_CAPACITY];
    size_t size = 0;
    uint8_t *bytes = NULL;
    ingot_buffer_t object = INGOT_BUFFER_INIT;
    struct envelope_blob found = {.size = 0};
    object_key_of(check->tier->name_space, probe->id_size, probe->id, key);
    ingot_status_t status = INGOT_SUCCESS;
    if (is_written) {
        if (envelope_encode(probe->id_size, probe->id, BLOB_SIZE, probe->blob, 0, 0, &size, &bytes) != INGOT_SUCCESS)
            return fail_check(report, INGOT_OUT_OF_MEMORY, ingot_last_error_detail());
        struct request *request = begin_step(check, INGOT_REMOTE_STEP_WRITE);
        status = end_step(check, transport->ops->put(transport->self, request, key, size, bytes), &report->write_ns);
        free(bytes);
    }
    if (status != INGOT_SUCCESS)
        return status;
    struct request *request = begin_step(check, INGOT_REMOTE_STEP_READ);
    const enum outcome outcome =
        transport->ops->get(transport->self, request, key, envelope_max_size(probe->id_size, BLOB_SIZE), &object);
    status = end_step(check, outcome, &report->read_ns);
    if (outcome == OUTCOME_DONE) {
        status = envelope_decode(object.size, object.bytes, probe->id_size, probe->id, BLOB_SIZE, &found);
        if (status != INGOT_SUCCESS)
            (void)fail_check(report, status, ingot_last_error_detail());
        else if (found.size != BLOB_SIZE || memcmp(found.bytes, probe->blob, BLOB_SIZE) != 0)
            status = fail_check(report, INGOT_BLOB_CORRUPT, "the server returned other bytes");
        free(found.unpacked);
        object.release(&object);
    } else if (outcome == OUTCOME_MISSING && is_written) {
        status = fail_check(report, INGOT_NOT_FOUND, "the server does not have what was just stored");
    }
    if (status != INGOT_SUCCESS || !is_written)
        return status;
    request = begin_step(check, INGOT_REMOTE_STEP_REMOVE);
    return end_step(check, transport->ops->remove(transport->self, request, key), NULL);
}

/* Makes an object whose blob cannot be compressed. Each machine has an id of its own, because several may check a
 * server at once. It does not change, so that checks leave at most one object on a server that does not let them remove
 * it. */
static void fill_probe(struct probe_object *probe)
{
    char host[HOST_CAPACITY] = "";
    uint64_t state = 1;
    if (gethostname(host, sizeof(host) - 1) != 0) /* the id has an empty name then */
        host[0] = '\0';
    probe->id_size = (size_t)snprintf((char *)probe->id, ID_CAPACITY, "ingot_remote_check %s", host);
    for (size_t i = 0; i < BLOB_SIZE; ++i) {
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        probe->blob[i] = (uint8_t)(state >> 56);
    }
}

ingot_status_t ingot_remote_check(const ingot_remote_info_t *info, ingot_remote_report_t *report)
{
    ingot_remote_info_t known_info = INGOT_REMOTE_INFO_INIT;
    ingot_remote_report_t known = INGOT_REMOTE_REPORT_INIT;
    struct check check = {.report = &known};
    if (!STRUCT_READ_OVER(known_info, info) || !STRUCT_IS_SET(report))
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "info, report or its struct_size is missing");
    struct probe_object *probe = malloc(sizeof(*probe));
    ingot_status_t status = probe != NULL ? tier_make(&known_info, &check.tier)
                                          : ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for a blob");
    if (status != INGOT_SUCCESS) {
        (void)fail_check(&known, status, ingot_last_error_detail());
    } else {
        fill_probe(probe);
        status = check_connection(&check, probe);
        if (status == INGOT_SUCCESS)
            status = check_object(&check, probe, (known_info.flags & (uint32_t)INGOT_REMOTE_READ_ONLY) == 0);
        if (status == INGOT_SUCCESS)
            known.step = INGOT_REMOTE_STEP_DONE;
        tier_free(check.tier);
    }
    free(probe);
    (void)STRUCT_WRITE(report, known);
    return status == INGOT_SUCCESS ? status : ingot_set_error_detail(status, "%s", known.reason);
}
