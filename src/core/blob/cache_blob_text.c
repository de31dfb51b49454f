/*
 * cache_blob_text.c - describes a blob, an artifact's envelope or probes as JSON, without needing a device.
 */
#include <ingot/private/descriptor.h>
#include <string.h>

#include "core/artifact/artifact_blob.h"
#include "core/base/error.h"
#include "core/base/json_text.h"
#include "core/blob/cache_blob.h"
#include "core/memo/probes.h"

static void put_kernels(struct bytes_writer *json, const struct blob_view *view)
{
    bytes_put_text(json, "\"kernels\": [");
    for (size_t at = 0; at < view->names_size; at += strlen(view->names + at) + 1) { /* ends after the last name */
        bytes_put_text(json, at != 0 ? ", " : "");
        json_put_text(json, view->names + at);
    }
    bytes_put_text(json, "]");
}

static void put_files(struct bytes_writer *json, const struct blob_view *view)
{
    struct bytes_reader files;
    size_t name_size = 0;
    const char *name = NULL;
    const uint8_t *digest = NULL;
    bytes_put_text(json, "\"files\": [");
    bytes_reader_init(&files, view->files_size, view->files);
    for (size_t i = 0; (digest = blob_next_file(&files, &name_size, &name)) != NULL; ++i) {
        bytes_put_text(json, i != 0 ? ", {\"name\": " : "{\"name\": ");
        json_put_string(json, name_size, (const uint8_t *)name, true);
        bytes_put_text(json, ", \"blake2b\": ");
        json_put_string(json, DIGEST_SIZE, digest, false);
        bytes_put_text(json, "}");
    }
    bytes_put_text(json, "]");
}

static void put_binaries(struct bytes_writer *json, const struct blob_view *view)
{
    bytes_put_text(json, "\"binaries\": [");
    for (uint32_t i = 0; i < view->section_count; ++i) {
        uint64_t size = 0;
        const uint8_t *digest = blob_section_at(view, i, &size);
        bytes_put_text(json, i != 0 ? ", {\"device_blake2b\": " : "{\"device_blake2b\": ");
        json_put_string(json, DIGEST_SIZE, digest, false);
        bytes_put_text(json, ", \"bytes\": ");
        json_put_number(json, size);
        bytes_put_text(json, "}");
    }
    bytes_put_text(json, "]");
}

static void put_parts(struct bytes_writer *json, const struct artifact_view *view)
{
    const char *name = view->part_names;
    bytes_put_text(json, "\"parts\": [");
    for (uint32_t i = 0; i < view->part_count; ++i) {
        bytes_put_text(json, i != 0 ? ", {\"name\": " : "{\"name\": ");
        json_put_text(json, name);
        bytes_put_text(json, ", \"bytes\": ");
        json_put_number(json, artifact_blob_part_size(view, i));
        bytes_put_text(json, "}");
        name += strlen(name) + 1;
    }
    bytes_put_text(json, "]");
}

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
    bytes_put_text(&json, ", \"make_time_ms\": ");
    json_put_number(&json, view.make_time_ms);
    bytes_put_text(&json, ", \"made_at_unix_ms\": ");
    json_put_number(&json, view.made_at_unix_ms);
    bytes_put_text(&json, ", ");
    put_parts(&json, &view);
    bytes_put_text(&json, "}");
    return json_end(&json, INGOT_SUCCESS, text_size, text);
}

static void put_probe(void *user, const char *what, const char *path)
{
    struct bytes_writer *json = user;
    bytes_put_text(json, json->size != 0 && json->bytes[json->size - 1] == '[' ? "{" : ", {");
    json_put_text(json, what);
    bytes_put_text(json, ": ");
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
    bytes_put_text(&json, "], \"result_bytes\": ");
    json_put_number(&json, probes.result_size);
    bytes_put_text(&json, "}");
    return json_end(&json, INGOT_SUCCESS, text_size, text);
}

ingot_status_t ingot_cache_blob_describe(size_t size, const uint8_t *cache_blob, size_t *text_size, char *text)
{
    struct bytes_writer json;
    struct blob_view view;

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
    bytes_put_text(&json, ", ");
    put_files(&json, &view);
    bytes_put_text(&json, ", ");
    put_kernels(&json, &view);
    bytes_put_text(&json, ", ");
    put_binaries(&json, &view);
    bytes_put_text(&json, ", \"build_time_ns\": ");
    json_put_number(&json, view.build_ns);
    bytes_put_text(&json, ", \"build_log\": ");
    json_put_string(&json, view.log_size, (const uint8_t *)view.log, true);
    bytes_put_text(&json, "}");
    return json_end(&json, INGOT_SUCCESS, text_size, text);
}
