/*
 * manifest_file.c - reads a manifest's file, whose contents cannot be trusted.
 */
#include <ingot/backend.h>
#include <ingot/prewarm.h>

#include "persist/base/files.h"
#include "persist/base/memory.h"
#include "persist/prewarm/manifest.h"

void manifest_init(struct manifest *manifest, const ingot_allocator_t *allocator)
{
    *manifest = (struct manifest){.allocator = *allocator};
    id_list_init(&manifest->ids, allocator);
}

void manifest_fini(struct manifest *manifest)
{
    id_list_fini(&manifest->ids);
    memory_free(&manifest->allocator, manifest->bytes, manifest->size);
    manifest->bytes = NULL;
    manifest->size = 0;
}

static ingot_status_t read_bytes(struct manifest *manifest, int fd)
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
    manifest->size = (size_t)facts.size_bytes;
    manifest->bytes = memory_allocate(&manifest->allocator, manifest->size);
    if (manifest->bytes == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for a manifest of %zu bytes", manifest->size);
    result = files_read(fd, 0, manifest->size, manifest->bytes, &got);
    if (result < 0)
        return files_read_failed(result, "reading", "the manifest");
    return got == manifest->size
               ? INGOT_SUCCESS
               : ingot_set_error_detail(INGOT_BLOB_TRUNCATED, "the manifest became shorter while it was read");
}

ingot_status_t manifest_read(struct manifest *manifest, const char *path)
{
    const char *name;
    const int parent = files_open_parent(path, &name);
    const int fd = parent < 0 ? parent : files_open_read(parent, name);
    if (parent >= 0)
        (void)files_close(parent);
    if (fd < 0)
        return files_read_failed(fd, "opening", path);
    ingot_status_t status = read_bytes(manifest, fd);
    (void)files_close(fd);
    if (status == INGOT_SUCCESS)
        status = manifest_decode(&manifest->ids, manifest->size, manifest->bytes);
    if (status != INGOT_SUCCESS)
        manifest_fini(manifest);
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
    for (size_t i = 0; status == INGOT_SUCCESS && i < manifest.ids.count; ++i) {
        const struct listed_id *listed = &manifest.ids.ids[i];
        status = visit(listed->size, listed->bytes, listed->age, user);
    }
    manifest_fini(&manifest);
    return status;
}
