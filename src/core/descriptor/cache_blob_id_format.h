/*
 * cache_blob_id_format.h - what ids begin with; doc/blob-format.md specifies every byte.
 */
#ifndef INGOT_CORE_DESCRIPTOR_CACHE_BLOB_ID_FORMAT_H
#define INGOT_CORE_DESCRIPTOR_CACHE_BLOB_ID_FORMAT_H

#include "util/entry_kind.h"

#define ID_FORMAT_VERSION 1u

/* The version of the rules by which Ingot turns a request into the compiler's input. Increase the number with each
 * change that gives the compiler other bytes for an equal request, and with each change after which a blob of an
 * earlier library must not be loaded. format_test and texts_test compare ids and texts with earlier ones, so they fail
 * at a change that was made by mistake. The version of the library is not in an id, so a new library can load what an
 * earlier one stored. */
#define ID_RULES "rules 1"

#endif
