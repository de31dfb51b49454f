/*
 * status.c - returns the names of statuses and events, and the library's version.
 */
#include <ingot/ingot.h>

#include "core/base/trace.h"
#include "core/revision.h"

#define TEXT_OF(x) #x
#define VERSION_TEXT(major, minor, patch) TEXT_OF(major) "." TEXT_OF(minor) "." TEXT_OF(patch)

const char *ingot_version(void)
{
    return VERSION_TEXT(INGOT_VERSION_MAJOR, INGOT_VERSION_MINOR, INGOT_VERSION_PATCH) "+" INGOT_REVISION;
}

const char *ingot_status_name(ingot_status_t status)
{
    switch (status) {
    case INGOT_SUCCESS: return "INGOT_SUCCESS";
    case INGOT_OUT_OF_MEMORY: return "INGOT_OUT_OF_MEMORY";
    case INGOT_INVALID_ARGUMENTS: return "INGOT_INVALID_ARGUMENTS";
    case INGOT_BUFFER_TOO_SMALL: return "INGOT_BUFFER_TOO_SMALL";
    case INGOT_UNIMPLEMENTED: return "INGOT_UNIMPLEMENTED";
    case INGOT_NOT_FOUND: return "INGOT_NOT_FOUND";
    case INGOT_NOT_CACHEABLE: return "INGOT_NOT_CACHEABLE";
    case INGOT_BUILD_FAILED: return "INGOT_BUILD_FAILED";
    case INGOT_BACKEND_ERROR: return "INGOT_BACKEND_ERROR";
    case INGOT_BLOB_TRUNCATED: return "INGOT_BLOB_TRUNCATED";
    case INGOT_BLOB_CORRUPT: return "INGOT_BLOB_CORRUPT";
    case INGOT_BLOB_VERSION: return "INGOT_BLOB_VERSION";
    case INGOT_BLOB_MISMATCH: return "INGOT_BLOB_MISMATCH";
    case INGOT_BLOB_STALE: return "INGOT_BLOB_STALE";
    case INGOT_BLOB_REJECTED: return "INGOT_BLOB_REJECTED";
    case INGOT_IO_ERROR: return "INGOT_IO_ERROR";
    case INGOT_READ_ONLY: return "INGOT_READ_ONLY";
    case INGOT_NO_SPACE: return "INGOT_NO_SPACE";
    case INGOT_BUSY: return "INGOT_BUSY";
    case INGOT_UNTRUSTED: return "INGOT_UNTRUSTED";
    case INGOT_DEADLOCK: return "INGOT_DEADLOCK";
    }
    return "unknown status";
}

const char *event_kind_name(ingot_event_kind_t kind)
{
    switch (kind) {
    case INGOT_EVENT_HIT: return "hit";
    case INGOT_EVENT_MISS: return "miss";
    case INGOT_EVENT_WAIT: return "wait";
    case INGOT_EVENT_BUILD: return "build";
    case INGOT_EVENT_LOAD: return "load";
    case INGOT_EVENT_TAKE_BLOB: return "take_blob";
    case INGOT_EVENT_EVICT: return "evict";
    case INGOT_EVENT_STORAGE_LOAD: return "storage_load";
    case INGOT_EVENT_STORAGE_STORE: return "storage_store";
    case INGOT_EVENT_STORAGE_EVICT: return "storage_evict";
    case INGOT_EVENT_STORAGE_DEGRADED: return "storage_degraded";
    case INGOT_EVENT_NATIVE_BUILD: return "native_build";
    case INGOT_EVENT_PASSED_THROUGH: return "passed_through";
    case INGOT_EVENT_NO_ID: return "no_id";
    case INGOT_EVENT_STORAGE_MISS: return "storage_miss";
    case INGOT_EVENT_ENVIRONMENT: return "environment";
    }
    return "unknown event";
}
