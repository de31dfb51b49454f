/*
 * job.h - what pushes and pulls of images share: the registry, its requests, and how failures are told.
 */
#ifndef INGOT_REMOTE_OCI_JOB_H
#define INGOT_REMOTE_OCI_JOB_H

#include <ingot/remote.h>

#include "remote/oci/image.h"

#define JOB_PACK_BYTES (8u << 20) /* a layer, or a range, is not extended beyond this size */
#define JOB_MOST_PARALLEL 4u      /* the most requests at once */

struct job {
    ingot_storage_t storage;
    struct registry registry;
    uint64_t connect_limit_ns;
    uint64_t stall_limit_ns;
    size_t max_blob_bytes;
    struct image image; /* on the registry */
    ingot_remote_image_stats_t stats;
    ingot_status_t status; /* the first failure that ends the job */
};

/* Checks the arguments and opens the registry. */
ingot_status_t job_init(struct job *job, ingot_storage_t storage, const ingot_remote_info_t *info);
/* Ends the job, and returns its status. */
ingot_status_t job_fini(struct job *job, ingot_remote_image_stats_t *stats);
/* Returns a request for a call that moves so many bytes; even a slow network needs no longer. */
struct request job_request(const struct job *job, uint64_t size);
/* Reads the manifest and the index. Sets the request to that of the last call, for job_judge. OUTCOME_MISSING: there is
 * no such image. */
enum outcome job_load_image(struct job *job, struct request *request);
/* Notes the outcome of a call. Returns false if the job must end. */
bool job_judge(struct job *job, const struct request *request, enum outcome outcome);

#endif
