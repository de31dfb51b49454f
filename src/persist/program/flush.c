/*
 * flush.c - implements a flush: stores waiting programs, and saves recorded ids, facts about headers, and counts.
 */
#include <ingot/backend.h>

#include "persist/memo/headers.h"
#include "persist/prewarm/recorder.h"
#include "persist/storage/common/savings.h"
#include "persist/storage/store_flush.h"
#include "util/struct_size.h"

ingot_status_t ingot_persist_flush(ingot_storage_t storage, const ingot_persist_flush_info_t *info,
                                   ingot_persist_flush_progress_t *progress)
{
    ingot_persist_flush_info_t known = INGOT_PERSIST_FLUSH_INFO_INIT;
    ingot_persist_flush_progress_t reached = INGOT_PERSIST_FLUSH_PROGRESS_INIT;
    if (storage == NULL || (info != NULL && !STRUCT_READ_OVER(known, info)) ||
        (progress != NULL && !STRUCT_IS_SET(progress)))
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "storage is NULL, or a struct_size is not set");
    const ingot_status_t flushed = store_flush(storage, &known, &reached);
    (void)STRUCT_WRITE(progress, reached);
    ingot_status_t saved = recorder_save(storage);
    const ingot_status_t remembered = headers_save(storage);
    savings_save(storage);
    if (saved == INGOT_SUCCESS)
        saved = remembered;
    return flushed != INGOT_SUCCESS ? flushed : saved;
}
