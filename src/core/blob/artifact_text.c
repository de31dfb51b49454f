/*
 * artifact_text.c - describes an artifact's envelope as JSON; see artifact_text.h.
 */
#include "core/blob/artifact_text.h"

#include <string.h>

#include "core/artifact/artifact_blob.h"
#include "core/base/json_text.h"

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

ingot_status_t artifact_text_describe(size_t size, const uint8_t *blob, size_t *text_size, char *text)
{
    ingot_allocator_t allocator;
    struct bytes_writer json;
    struct artifact_view view;
    ingot_status_t status = artifact_blob_read(&view, size, blob);
    if (status != INGOT_SUCCESS)
        return status;
    json_writer_init(&json, &allocator);
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
    status = json_copy_out(&json, text_size, text);
    bytes_writer_fini(&json);
    return status;
}
