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

#include "remote/tier/tier.h"
#include "util/error_text.h"
#include "util/nanoseconds.h"
#include "util/struct_size.h"

#define BLOB_SIZE (64u * 1024u)
#define KEYS_OF_CLUSTER 32u
#define ID_CAPACITY 320u
#define HOST_CAPACITY 256u

/* A check in progress, and what it stores. */
struct check {
    struct tier *tier;
    ingot_remote_report_t *report;
    struct request request; /* the last one */
    size_t id_size;
    uint8_t id[ID_CAPACITY];
    uint8_t blob[BLOB_SIZE];
};

/* Begins a request of a step. Returns it. */
static struct request *begin_step(struct check *check, ingot_remote_step_t step)
{
    check->report->step = step;
    check->request = tier_make_request(check->tier);
    return &check->request;
}

/* Ends it, and writes how long it took, unless taken_ns is NULL. */
static ingot_status_t end_step(struct check *check, enum outcome outcome, uint64_t *taken_ns)
{
    if (taken_ns != NULL)
        *taken_ns = nanoseconds_now() - check->request.began_ns;
    return outcome == OUTCOME_DONE || outcome == OUTCOME_MISSING
               ? INGOT_SUCCESS
               : ingot_set_error_detail(tier_status_of(outcome), "%s", check->request.failure);
}

/* Measures how long the first probe takes, which also connects. Then asks Redis for many objects that it lacks: a node
 * of a cluster refuses those that other nodes would have. */
static ingot_status_t check_connection(struct check *check)
{
    const struct transport_ops *ops = check->tier->transport.ops;
    void *self = check->tier->transport.self;
    ingot_status_t status =
        end_step(check, ops->probe(self, begin_step(check, INGOT_REMOTE_STEP_CONNECT)), &check->report->connect_ns);
    for (uint8_t i = 0; i < KEYS_OF_CLUSTER && status == INGOT_SUCCESS && ops->take_lease != NULL; ++i) {
        char key[OBJECT_KEY_CAPACITY];
        ingot_buffer_t object = INGOT_BUFFER_INIT;
        object_key_of("", sizeof(i), &i, key);
        const enum outcome outcome =
            ops->get(self, begin_step(check, INGOT_REMOTE_STEP_CONNECT), key, BLOB_SIZE, &object);
        if (outcome == OUTCOME_DONE)
            object.release(&object);
        status = end_step(check, outcome, NULL);
    }
    return status;
}

static ingot_status_t store_probe(struct check *check, const char *key)
{
    const struct transport *transport = &check->tier->transport;
    size_t size = 0;
    uint8_t *bytes = NULL;
    struct request *request = begin_step(check, INGOT_REMOTE_STEP_WRITE);
    ingot_status_t status = envelope_encode(check->id_size, check->id, BLOB_SIZE, check->blob, 0, 0, &size, &bytes);
    if (status == INGOT_SUCCESS)
        status =
            end_step(check, transport->ops->put(transport->self, request, key, size, bytes), &check->report->write_ns);
    free(bytes);
    return status;
}

/* Compares what the server returns. A tier that only reads asks for it. */
static ingot_status_t load_probe(struct check *check, const char *key, bool is_written)
{
    const struct transport *transport = &check->tier->transport;
    ingot_buffer_t object = INGOT_BUFFER_INIT;
    struct envelope_content found = {.size = 0};
    const enum outcome outcome = transport->ops->get(transport->self, begin_step(check, INGOT_REMOTE_STEP_READ), key,
                                                     envelope_max_size(check->id_size, BLOB_SIZE), &object);
    ingot_status_t status = end_step(check, outcome, &check->report->read_ns);
    if (outcome == OUTCOME_MISSING && is_written)
        return ingot_set_error_detail(INGOT_NOT_FOUND, "the server does not have what was just stored");
    if (outcome != OUTCOME_DONE)
        return status;
    status = envelope_decode(object.size, object.bytes, check->id_size, check->id, BLOB_SIZE, &found);
    if (status == INGOT_SUCCESS && (found.size != BLOB_SIZE || memcmp(found.bytes, check->blob, BLOB_SIZE) != 0))
        status = ingot_set_error_detail(INGOT_BLOB_CORRUPT, "the server returned other bytes");
    free(found.unpacked);
    object.release(&object);
    return status;
}

static ingot_status_t check_server(struct check *check, bool is_written)
{
    const struct transport *transport = &check->tier->transport;
    char key[OBJECT_KEY_CAPACITY];
    object_key_of(check->tier->name_space, check->id_size, check->id, key);
    ingot_status_t status = check_connection(check);
    if (status == INGOT_SUCCESS && is_written)
        status = store_probe(check, key);
    if (status == INGOT_SUCCESS)
        status = load_probe(check, key, is_written);
    if (status != INGOT_SUCCESS || !is_written)
        return status;
    struct request *request = begin_step(check, INGOT_REMOTE_STEP_REMOVE);
    return end_step(check, transport->ops->remove(transport->self, request, key), NULL);
}

ingot_status_t ingot_remote_check(const ingot_remote_info_t *info, ingot_remote_report_t *report)
{
    ingot_remote_info_t known = INGOT_REMOTE_INFO_INIT;
    ingot_persist_trust_t trust = INGOT_PERSIST_TRUST_INIT;
    (void)STRUCT_READ_OVER(known, info);
    *report = (ingot_remote_report_t){.step = INGOT_REMOTE_STEP_OPEN};
    struct check *check = calloc(1, sizeof(*check));
    ingot_status_t status = check != NULL ? tier_read_environment(&known, &trust)
                                          : ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for a blob");
    if (status == INGOT_SUCCESS)
        status = tier_make(&known, &check->tier);
    if (status == INGOT_SUCCESS) {
        check->report = report;
        /* Makes an object whose blob cannot be compressed. Each machine has an id of its own, because several may check
         * a server at once. It does not change, so that checks leave at most one object on a server that does not let
         * them remove it. */
        char host[HOST_CAPACITY] = "";
        uint64_t state = 1;
        if (gethostname(host, sizeof(host) - 1) != 0) /* the id has an empty name then */
            host[0] = '\0';
        check->id_size = (size_t)snprintf((char *)check->id, ID_CAPACITY, "ingot_remote_check %s", host);
        for (size_t i = 0; i < BLOB_SIZE; ++i) {
            state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            check->blob[i] = (uint8_t)(state >> 56);
        }
        status = check_server(check, (known.flags & (uint32_t)INGOT_REMOTE_READ_ONLY) == 0);
        tier_free(check->tier);
    }
    if (status == INGOT_SUCCESS)
        report->step = INGOT_REMOTE_STEP_DONE;
    else
        error_text_copy(report->reason, sizeof(report->reason), ingot_last_error_detail());
    free(check);
    return status;
}
