/*
 * manifest_file.c - reads a manifest's file, whose contents cannot be trusted.
 */
#include <ingot/backend.h>
#include <ingot/prewarm.h>

#include "persist/base/files.h"
#include "persist/base/memory.h"
#include "persist/prewarm/manifest.h"

/* Reads a file's bytes, which the caller must free with memory_free. *bytes remains NULL if nothing was allocated. */
static ingot_status_t read_bytes(const ingot_allocator_t *allocator, int fd, size_t *size, uint8_t **bytes)
{
    struct file_facts facts;
    size_t got = 0;
    int result = files_facts(fd, &facts);
    if (result < 0)
        return files_read_failed(result, "examining", "the manifest");
    if (!facts.is_file || !files_are_private(&facts, files_user()))
        return files_untrusted(&facts, false, files_user(), "the manifest");
    if (facts.size_bytes > MANIFEST_MAX_SIZE)
        return ingot_set_error_detail(INGOT_BLOB_CORRUPT,
                                      "the manifest is corrupt: it is larger than a manifest can be");
    if (facts.size_bytes == 0)
        return ingot_set_error_detail(INGOT_BLOB_TRUNCATED, "the manifest is empty");
    *size = (size_t)facts.size_bytes;
    *bytes = memory_allocate(allocator, *size);
    if (*bytes == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for a manifest of %zu bytes", *size);
    result = files_read(fd, 0, *size, *bytes, &got);
    if (result < 0)
        return files_read_failed(result, "reading", "the manifest");
    return got == *size ? INGOT_SUCCESS
                        : ingot_set_error_detail(INGOT_BLOB_TRUNCATED, "the manifest became shorter while it was read");
}

ingot_status_t manifest_read(struct manifest *manifest, const char *path)
{
    const int fd = files_open_path(path);
    if (fd < 0)
        return files_read_failed(fd, "opening", path);
    uint8_t *bytes = NULL;
    size_t size = 0;
    ingot_status_t status = read_bytes(&manifest->allocator, fd, &size, &bytes);
    (void)files_close(fd);
    if (status == INGOT_SUCCESS)
        status = manifest_decode(manifest, size, bytes);
    memory_free(&manifest->allocator, bytes, size);
    return status;
}

ingot_status_t ingot_manifest_read(const char *path, ingot_manifest_visit_t visit, void *user)
{
    ingot_allocator_t allocator;
    struct manifest manifest;
    if (path == NULL || path[0] == '\0' || visit == NULL)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "path or visit is missing");
    (void)memory_init(&allocator, NULL);
    manifest_init(&manifest, &allocator);
    ingot_status_t status = manifest_read(&manifest, path);
    for (size_t i = 0; status == INGOT_SUCCESS && i < manifest.count; ++i) {
        const struct manifest_entry entry = manifest_get(&manifest, i);
        status = visit(entry.id_size, entry.id, entry.age, user);
    }
    manifest_fini(&manifest);
    return status;
}
