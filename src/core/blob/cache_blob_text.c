/*
 * cache_blob_text.c - describes a blob, an artifact's envelope or probes as JSON, without needing a device.
 */
#include <ingot/private/descriptor.h>
#include <inttypes.h>
#include <string.h>

#include "core/artifact/artifact_blob.h"
#include "core/base/error.h"
#include "core/base/json_text.h"
#include "core/blob/cache_blob.h"
#include "core/memo/probes.h"

static ingot_status_t describe_artifact(size_t size, const uint8_t *envelope, size_t *text_size, char *text)
{
    struct bytes_writer json;
    struct artifact_view view;
    const ingot_status_t status = artifact_blob_read(&view, size, envelope);
    if (status != INGOT_SUCCESS)
        return status;
    json_begin(&json);
    bytes_put_text(&json, "{\"artifact\": ");
    json_put_text(&json, view.kind);
    bytes_put_text(&json, ", \"label\": ");
    json_put_text(&json, view.label);
    bytes_print(&json, ", \"make_time_ms\": %" PRIu64 ", \"made_at_unix_ms\": %" PRIu64 ", \"parts\": [",
                view.make_time_ms, view.made_at_unix_ms);
    const char *name = view.part_names;
    for (uint32_t i = 0; i < view.part_count; ++i) {
        bytes_put_text(&json, i != 0 ? ", {\"name\": " : "{\"name\": ");
        json_put_text(&json, name);
        bytes_print(&json, ", \"bytes\": %" PRIu64 "}", artifact_blob_part_size(&view, i));
        name += strlen(name) + 1;
    }
    bytes_put_text(&json, "]}");
    return json_end(&json, INGOT_SUCCESS, text_size, text);
}

static void put_probe(void *user, const char *what, const char *path)
{
    struct bytes_writer *json = user;
    bytes_print(json, "%s{\"%s\": ", json->size != 0 && json->bytes[json->size - 1] == '[' ? "" : ", ", what);
    json_put_text(json, path);
    bytes_put_text(json, "}");
}

static ingot_status_t describe_probes(size_t size, const uint8_t *content, size_t *text_size, char *text)
{
    struct bytes_writer json;
    struct probes probes;
    if (!probes_read(&probes, size, content))
        return error_set(INGOT_BLOB_CORRUPT, "the probes are malformed");
    json_begin(&json);
    bytes_put_text(&json, "{\"probes\": [");
    (void)witness_visit(probes.answers_size, probes.answers, put_probe, &json);
    bytes_print(&json, "], \"result_bytes\": %zu}", probes.result_size);
    return json_end(&json, INGOT_SUCCESS, text_size, text);
}

ingot_status_t ingot_cache_blob_describe(size_t size, const uint8_t *cache_blob, size_t *text_size, char *text)
{
    struct bytes_writer json;
    struct blob_view view;
    struct bytes_reader files;
    const char *name = NULL;
    const uint8_t *digest = NULL;
    size_t name_size = 0;
    uint64_t binary_size = 0;

    if ((cache_blob == NULL && size != 0) || text_size == NULL)
        return error_set(INGOT_INVALID_ARGUMENTS, "cache_blob or text_size is NULL");
    if (artifact_blob_is(size, cache_blob))
        return describe_artifact(size, cache_blob, text_size, text);
    if (probes_begin(size, cache_blob))
        return describe_probes(size, cache_blob, text_size, text);
    const ingot_status_t status = blob_read(&view, size, cache_blob);
    if (status != INGOT_SUCCESS)
        return status;
    json_begin(&json);
    bytes_put_text(&json, "{\"source_name\": ");
    json_put_string(&json, view.source_name_size, (const uint8_t *)view.source_name, true);
    bytes_put_text(&json, ", \"files\": [");
    bytes_reader_init(&files, view.files_size, view.files);
    for (size_t i = 0; (digest = blob_next_file(&files, &name_size, &name)) != NULL; ++i) {
        bytes_put_text(&json, i != 0 ? ", {\"name\": " : "{\"name\": ");
        json_put_string(&json, name_size, (const uint8_t *)name, true);
        bytes_put_text(&json, ", \"blake2b\": ");
        json_put_string(&json, DIGEST_SIZE, digest, false);
        bytes_put_text(&json, "}");
    }
    bytes_put_text(&json, "], \"kernels\": [");
    for (size_t at = 0; at < view.names_size; at += strlen(view.names + at) + 1) { /* ends after the last name */
        bytes_put_text(&json, at != 0 ? ", " : "");
        json_put_text(&json, view.names + at);
    }
    bytes_put_text(&json, "], \"binaries\": [");
    for (uint32_t i = 0; i < view.section_count; ++i) {
        digest = blob_section_at(&view, i, &binary_size);
        bytes_put_text(&json, i != 0 ? ", {\"device_blake2b\": " : "{\"device_blake2b\": ");
        json_put_string(&json, DIGEST_SIZE, digest, false);
        bytes_print(&json, ", \"bytes\": %" PRIu64 "}", binary_size);
    }
    bytes_print(&json, "], \"build_time_ns\": %" PRIu64 ", \"build_log\": ", view.build_ns);
    json_put_string(&json, view.log_size, (const uint8_t *)view.log, true);
    bytes_put_text(&json, "}");
    return json_end(&json, INGOT_SUCCESS, text_size, text);
}
