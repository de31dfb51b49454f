/*
 * flush.c - implements a flush: stores waiting programs, and saves facts about headers.
 */
#include <ingot/backend.h>

#include "persist/base/files.h"
#include "persist/base/kept_error.h"
#include "persist/memo/headers.h"
#include "persist/storage/deferred.h"
#include "persist/storage/serving.h"
#include "util/limit.h"
#include "util/struct_size.h"

/* Returns the status of the first step that failed. Keeps its error, because later steps change the thread's error even
 * if they succeed. */
static ingot_status_t first_failure(ingot_status_t status, ingot_status_t next, struct kept_error *kept)
{
    if (status != INGOT_SUCCESS)
        return status;
    kept_error_save(kept);
    return next;
}

ingot_status_t ingot_persist_flush(ingot_storage_t storage, const ingot_persist_flush_info_t *info,
                                   ingot_persist_flush_progress_t *progress)
{
    ingot_persist_flush_info_t known = INGOT_PERSIST_FLUSH_INFO_INIT;
    ingot_persist_flush_progress_t reached = INGOT_PERSIST_FLUSH_PROGRESS_INIT;
    if ((info != NULL && !STRUCT_READ_OVER(known, info)) || (progress != NULL && !STRUCT_IS_SET(progress)))
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "a struct_size is not set");
    uint64_t until_ns = UINT64_MAX;
    struct kept_error kept;
    ingot_status_t status = storage_check(storage);
    if (status != INGOT_SUCCESS)
        return status;
    if (known.max_time_ms != 0 && known.max_time_ms != INGOT_UNLIMITED)
        until_ns = files_steady_clock_ns() + limit_time_ns(known.max_time_ms, 0);
    status = first_failure(INGOT_SUCCESS, deferred_store_all(storage, until_ns, &reached), &kept);
    (void)STRUCT_WRITE(progress, reached);
    status = first_failure(status, headers_save(storage), &kept);
    if (status != INGOT_SUCCESS)
        kept_error_restore(&kept);
    return status;
}
