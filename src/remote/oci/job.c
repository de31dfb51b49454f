/*
 * job.c - opens the registry for a push or a pull; see job.h.
 */
#include "remote/oci/job.h"

#include <ingot/backend.h>
#include <string.h>

#include "remote/base/clock.h"
#include "util/limit.h"
#include "util/struct_size.h"

#define DEFAULT_MAX_BLOB (UINT64_C(64) << 20)
#define DEFAULT_CONNECT_MS 5000u
#define DEFAULT_STALL_MS 30000u
#define MOST_BLOB (UINT64_C(1) << 30)
#define MOST_LEAST_TIME_NS (UINT64_C(60) * 1000000000)
#define NS_PER_BYTE (UINT64_C(20000) * JOB_MOST_PARALLEL) /* 50 kB per second for all requests together */
#define MOST_WAITS 3u

ingot_status_t job_init(struct job *job, ingot_storage_t storage, const ingot_remote_info_t *info)
{
    ingot_remote_info_t known = INGOT_REMOTE_INFO_INIT;
    struct url url;
    memset(job, 0, sizeof(*job));
    if (storage == NULL || !STRUCT_READ_OVER(known, info) || known.url == NULL)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "storage, info, its struct_size or its url is missing");
    ingot_status_t status = url_parse(&url, known.url);
    if (status == INGOT_SUCCESS && url.scheme != URL_OCI)
        status = ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "an image's URL begins with oci://");
    if (status == INGOT_SUCCESS)
        status = registry_init(&job->registry, &url);
    if (status != INGOT_SUCCESS)
        return status;
    job->storage = storage;
    job->stats.struct_size = sizeof(job->stats);
    job->registry.most_waits = MOST_WAITS;
    const uint64_t blob_bytes = limit_of(known.max_blob_bytes, DEFAULT_MAX_BLOB);
    job->max_blob_bytes = (size_t)(blob_bytes < MOST_BLOB ? blob_bytes : MOST_BLOB);
    job->connect_limit_ns = limit_time_ns(known.connect_timeout_ms, DEFAULT_CONNECT_MS);
    job->stall_limit_ns = limit_time_ns(known.stall_timeout_ms, DEFAULT_STALL_MS);
    return INGOT_SUCCESS;
}

ingot_status_t job_fini(struct job *job, ingot_remote_image_stats_t *stats)
{
    registry_fini(&job->registry);
    image_fini(&job->image);
    if (stats != NULL && STRUCT_IS_SET(stats))
        (void)STRUCT_WRITE(stats, job->stats);
    return job->status;
}

struct request job_request(const struct job *job, uint64_t size)
{
    const uint64_t least_ns =
        job->stall_limit_ns < MOST_LEAST_TIME_NS / 2 ? 2 * job->stall_limit_ns : MOST_LEAST_TIME_NS;
    return (struct request){
        .deadline_ns = clock_now_ns() + least_ns + size * NS_PER_BYTE,
        .connect_limit_ns = job->connect_limit_ns,
        .stall_limit_ns = job->stall_limit_ns,
    };
}

/* Each call has a deadline of its own, so that a registry that sends a byte now and then cannot take the time of the
 * largest index for the manifest. No other request shares the network meanwhile. */
enum outcome job_load_image(struct job *job, struct request *request)
{
    *request = job_request(job, IMAGE_MOST_MANIFEST_BYTES / JOB_MOST_PARALLEL);
    enum outcome outcome = image_load_manifest(&job->image, &job->registry, request);
    if (outcome == OUTCOME_DONE) {
        *request = job_request(job, job->image.index.size / JOB_MOST_PARALLEL);
        outcome = image_load_index(&job->image, &job->registry, request);
    }
    return outcome;
}

bool job_judge(struct job *job, const struct request *request, enum outcome outcome)
{
    if (outcome == OUTCOME_DONE)
        return true;
    if (outcome == OUTCOME_MISSING)
        job->status = ingot_set_error_detail(INGOT_NOT_FOUND, "the registry has no %s:%s, or not all of it",
                                             job->registry.name, job->registry.reference);
    else
        job->status = ingot_set_error_detail(outcome == OUTCOME_NO_MEMORY ? INGOT_OUT_OF_MEMORY : INGOT_IO_ERROR,
                                             "%s: %s", job->registry.origin, request->failure);
    return false;
}
