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

/* What a check stores under its id. Each machine has an id of its own, because several may check a server at once. The
 * id does not change, so that checks leave at most one object on a server that does not let them remove it. */
struct probe_object {
    size_t id_size;
    uint8_t id[ID_CAPACITY];
    uint8_t blob[BLOB_SIZE];
};

static void make_probe_id(struct probe_object *object)
{
    char host[HOST_CAPACITY] = "";
    if (gethostname(host, sizeof(host) - 1) != 0) /* the id has an empty name then */
        host[0] = '\0';
    object->id_size = (size_t)snprintf((char *)object->id, ID_CAPACITY, "ingot_remote_check %s", host);
}

/* Fills memory with bytes that cannot be compressed. */
static void fill_incompressible_blob(uint8_t blob[BLOB_SIZE])
{
    uint64_t state = 1;
    for (size_t i = 0; i < BLOB_SIZE; ++i) {
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        blob[i] = (uint8_t)(state >> 56);
    }
}

static ingot_status_t fail_check(ingot_remote_report_t *report, ingot_status_t status, const char *sentence)
{
    error_text_copy(report->reason, sizeof(report->reason), sentence);
    return status;
}

static ingot_status_t end_step(ingot_remote_report_t *report, enum outcome outcome, const struct request *request)
{
    return outcome == OUTCOME_DONE || outcome == OUTCOME_MISSING
               ? INGOT_SUCCESS
               : fail_check(report, tier_status_of(outcome), request->failure);
}

/* Measures how long the first probe takes, which also connects, and then the shortest round trip. */
static ingot_status_t check_round_trips(struct tier *tier, ingot_remote_report_t *report)
{
    ingot_status_t status = INGOT_SUCCESS;
    report->step = INGOT_REMOTE_STEP_CONNECT;
    report->round_trip_ns = UINT64_MAX;
    for (int i = 0; i <= ROUND_TRIPS && status == INGOT_SUCCESS; ++i) {
        struct request request = tier_make_request(tier);
        const uint64_t began_ns = nanoseconds_now();
        status = end_step(report, tier->transport.ops->probe(tier->transport.self, &request), &request);
        const uint64_t taken_ns = nanoseconds_now() - began_ns;
        if (i == 0)
            report->connect_ns = taken_ns;
        else if (taken_ns < report->round_trip_ns)
            report->round_trip_ns = taken_ns;
    }
    if (status != INGOT_SUCCESS)
        report->round_trip_ns = 0;
    return status;
}

static ingot_status_t check_write(struct tier *tier, const char *key, const struct probe_object *probe,
                                  ingot_remote_report_t *report)
{
    size_t size = 0;
    uint8_t *object = NULL;
    struct request request = tier_make_request(tier);
    report->step = INGOT_REMOTE_STEP_WRITE;
    if (envelope_encode(probe->id_size, probe->id, BLOB_SIZE, probe->blob, 0, 0, &size, &object) != INGOT_SUCCESS)
        return fail_check(report, INGOT_OUT_OF_MEMORY, ingot_last_error_detail());
    const uint64_t began_ns = nanoseconds_now();
    const enum outcome outcome = tier->transport.ops->put(tier->transport.self, &request, key, size, object);
    report->write_ns = nanoseconds_now() - began_ns;
    free(object);
    return end_step(report, outcome, &request);
}

static ingot_status_t compare_object(const ingot_buffer_t *object, const struct probe_object *probe,
                                     ingot_remote_report_t *report)
{
    struct envelope_blob found = {.size = 0};
    const ingot_status_t status =
        envelope_decode(object->size, object->bytes, probe->id_size, probe->id, BLOB_SIZE, &found);
    if (status != INGOT_SUCCESS)
        return fail_check(report, status, ingot_last_error_detail());
    const bool is_equal = found.size == BLOB_SIZE && memcmp(found.bytes, probe->blob, BLOB_SIZE) == 0;
    free(found.unpacked);
    return is_equal ? INGOT_SUCCESS : fail_check(report, INGOT_BLOB_CORRUPT, "the server returned other bytes");
}

static ingot_status_t check_read(struct tier *tier, const char *key, const struct probe_object *probe, bool is_expected,
                                 ingot_remote_report_t *report)
{
    struct request request = tier_make_request(tier);
    ingot_buffer_t object = INGOT_BUFFER_INIT;
    const uint64_t began_ns = nanoseconds_now();
    report->step = INGOT_REMOTE_STEP_READ;
    const enum outcome outcome = tier->transport.ops->get(tier->transport.self, &request, key,
                                                          envelope_max_size(probe->id_size, BLOB_SIZE), &object);
    report->read_ns = nanoseconds_now() - began_ns;
    ingot_status_t status = end_step(report, outcome, &request);
    if (outcome == OUTCOME_DONE) {
        status = compare_object(&object, probe, report);
        object.release(&object);
    } else if (outcome == OUTCOME_MISSING && is_expected) {
        status = fail_check(report, INGOT_NOT_FOUND, "the server does not have what was just stored");
    }
    return status;
}

static ingot_status_t check_remove(struct tier *tier, const char *key, ingot_remote_report_t *report)
{
    struct request request = tier_make_request(tier);
    report->step = INGOT_REMOTE_STEP_REMOVE;
    return end_step(report, tier->transport.ops->remove(tier->transport.self, &request, key), &request);
}

/* Asks for many objects that the server lacks. A node of a cluster refuses those that other nodes would have. */
static ingot_status_t check_wholeness(struct tier *tier, const struct probe_object *probe,
                                      ingot_remote_report_t *report)
{
    ingot_status_t status = INGOT_SUCCESS;
    report->step = INGOT_REMOTE_STEP_CONNECT;
    for (uint8_t i = 0; i < KEYS_OF_CLUSTER && status == INGOT_SUCCESS && tier->transport.ops->leases != NULL; ++i) {
        char key[OBJECT_KEY_CAPACITY];
        uint8_t id[ID_CAPACITY + 1];
        memcpy(id, probe->id, probe->id_size);
        id[probe->id_size] = i;
        object_key_of(tier->name_space, probe->id_size + 1, id, key);
        struct request request = tier_make_request(tier);
        ingot_buffer_t object = INGOT_BUFFER_INIT;
        const enum outcome outcome = tier->transport.ops->get(tier->transport.self, &request, key, BLOB_SIZE, &object);
        if (outcome == OUTCOME_DONE)
            object.release(&object);
        status = end_step(report, outcome, &request);
    }
    return status;
}

static ingot_status_t check_all_operations(struct tier *tier, const struct probe_object *probe,
                                           ingot_remote_report_t *report)
{
    char key[OBJECT_KEY_CAPACITY];
    const bool is_written = (tier->flags & (uint32_t)INGOT_REMOTE_READ_ONLY) == 0;
    object_key_of(tier->name_space, probe->id_size, probe->id, key);
    ingot_status_t status = check_round_trips(tier, report);
    if (status == INGOT_SUCCESS)
        status = check_wholeness(tier, probe, report);
    if (status == INGOT_SUCCESS && is_written)
        status = check_write(tier, key, probe, report);
    if (status == INGOT_SUCCESS)
        status = check_read(tier, key, probe, is_written, report);
    if (status == INGOT_SUCCESS && is_written)
        status = check_remove(tier, key, report);
    if (status == INGOT_SUCCESS)
        report->step = INGOT_REMOTE_STEP_DONE;
    return status;
}

static ingot_status_t check_remote(const ingot_remote_info_t *info, ingot_remote_report_t *report)
{
    struct tier *tier = NULL;
    ingot_status_t status = tier_make(info, &tier);
    if (status != INGOT_SUCCESS)
        return fail_check(report, status, ingot_last_error_detail());
    struct probe_object *probe = malloc(sizeof(*probe));
    if (probe == NULL) {
        status = fail_check(report, INGOT_OUT_OF_MEMORY, "no memory for a blob");
    } else {
        make_probe_id(probe);
        fill_incompressible_blob(probe->blob);
        status = check_all_operations(tier, probe, report);
    }
    free(probe);
    tier_free(tier);
    return status;
}

ingot_status_t ingot_remote_check(const ingot_remote_info_t *info, ingot_remote_report_t *report)
{
    ingot_remote_info_t known_info = INGOT_REMOTE_INFO_INIT;
    ingot_remote_report_t known = INGOT_REMOTE_REPORT_INIT;
    if (!STRUCT_READ_OVER(known_info, info) || !STRUCT_IS_SET(report))
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "info, report or its struct_size is missing");
    const ingot_status_t status = check_remote(&known_info, &known);
    (void)STRUCT_WRITE(report, known);
    return status == INGOT_SUCCESS ? status : ingot_set_error_detail(status, "%s", known.reason);
}
