/*
 * artifact_text.h - describes an artifact's envelope as JSON.
 */
#ifndef INGOT_CORE_BLOB_ARTIFACT_TEXT_H
#define INGOT_CORE_BLOB_ARTIFACT_TEXT_H

#include <ingot/ingot.h>

/* Does what ingot_cache_blob_describe does, for an envelope. */
ingot_status_t artifact_text_describe(size_t size, const uint8_t *blob, size_t *text_size, char *text);

#endif
