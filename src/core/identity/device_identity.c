/*
 * device_identity.c - makes a device's identity; see device_identity.h.
 */
#include "core/identity/device_identity.h"

#include <string.h>

#include "core/base/error.h"
#include "util/hex.h"

ingot_status_t ingot_identity_add(ingot_identity_t *identity, const char *name, size_t size, const void *value)
{
    if (identity == NULL || (value == NULL && size != 0))
        return error_null_argument(identity == NULL ? "identity" : "value");
    if (name == NULL || *name == '\0' || name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_")] != '\0')
        return error_set(INGOT_INVALID_ARGUMENTS, "an identity field's name must consist of a-z, 0-9 and _");
    bytes_put_framed_text(&identity->fields, name);
    bytes_put_framed(&identity->fields, size, value);
    return identity->fields.failed ? error_out_of_memory() : INGOT_SUCCESS;
}

ingot_status_t ingot_identity_add_digest(ingot_identity_t *identity, const char *name, size_t size, const void *value)
{
    uint8_t digest[DIGEST_SIZE];
    char text[2 * DIGEST_SIZE];

    digest_of(size, value, digest);
    hex_put(text, sizeof(digest), digest);
    return ingot_identity_add(identity, name, sizeof(text), text);
}

ingot_status_t device_identity_create(struct device_identity **identity, const ingot_allocator_t *allocator,
                                      struct ingot_header_memo *memo, const ingot_backend_ops_t *ops, void *state,
                                      uint32_t device)
{
    struct ingot_identity fields = {.memo = memo};
    struct device_identity *made = NULL;

    bytes_writer_init(&fields.fields, allocator);
    bytes_writer_init(&fields.files, allocator);
    bytes_writer_init(&fields.variables, allocator);
    ingot_status_t status = ops->identify_device(state, device, &fields);
    if (status != INGOT_SUCCESS)
        goto done;
    made = memory_allocate_zeroed(allocator, sizeof(*made));
    if (made != NULL)
        made->bytes = bytes_take(&fields.fields, &made->size);
    if (made != NULL)
        made->files = bytes_take(&fields.files, &made->files_size);
    if (made != NULL)
        made->variables = bytes_take(&fields.variables, &made->variables_size);
    if (made == NULL || made->bytes == NULL || made->files == NULL || made->variables == NULL) {
        status = error_out_of_memory();
        goto done;
    }
    digest_of(made->size, made->bytes, made->digest);
    *identity = made;
    made = NULL;
done:
    device_identity_destroy(made, allocator);
    bytes_writer_fini(&fields.variables);
    bytes_writer_fini(&fields.files);
    bytes_writer_fini(&fields.fields);
    return status;
}

void device_identity_destroy(struct device_identity *identity, const ingot_allocator_t *allocator)
{
    if (identity == NULL)
        return;
    memory_free(allocator, identity->bytes, identity->size);
    memory_free(allocator, identity->files, identity->files_size);
    memory_free(allocator, identity->variables, identity->variables_size);
    memory_free(allocator, identity, sizeof(*identity));
}
