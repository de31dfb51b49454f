/*
 * flush.c - implements a flush: stores waiting programs.
 */
#include <ingot/backend.h>

#include "persist/base/files.h"
#include "persist/storage/deferred.h"
#include "persist/storage/serving.h"
#include "util/limit.h"
#include "util/struct_size.h"

ingot_status_t ingot_persist_flush(ingot_storage_t storage, const ingot_persist_flush_info_t *info,
                                   ingot_persist_flush_progress_t *progress)
{
    ingot_persist_flush_info_t known = INGOT_PERSIST_FLUSH_INFO_INIT;
    ingot_persist_flush_progress_t reached = INGOT_PERSIST_FLUSH_PROGRESS_INIT;
    if ((info != NULL && !STRUCT_READ_OVER(known, info)) || (progress != NULL && !STRUCT_IS_SET(progress)))
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "a struct_size is not set");
    uint64_t until_ns = UINT64_MAX;
    ingot_status_t status = storage_check(storage);
    if (status != INGOT_SUCCESS)
        return status;
    if (known.max_time_ms != 0 && known.max_time_ms != INGOT_UNLIMITED)
        until_ns = files_steady_clock_ns() + limit_time_ns(known.max_time_ms, 0);
    status = deferred_store_all(storage, until_ns, &reached);
    (void)STRUCT_WRITE(progress, reached);
    return status;
}
