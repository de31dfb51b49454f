/*
 * layout.h - reads and writes the files of an OCI image layout, whose layers are bundles; see doc/oci-format.md.
 *
 * Other tools write layouts, too, and registries may hold anything. So a layer is used only if it has its digest, and
 * sizes are compared with limits before memory is allocated for them.
 */
#ifndef INGOT_REMOTE_IMAGE_LAYOUT_H
#define INGOT_REMOTE_IMAGE_LAYOUT_H

#include <ingot/storage.h>
#include <stdbool.h>

#define LAYOUT_DIGEST_CAPACITY 72u /* "sha256:" and 64 hexadecimal digits */
#define LAYOUT_PATH_CAPACITY 4352u
#define LAYOUT_NAME_SPACE_CAPACITY 65u

/* A layer of an image. Other files may use the fields. */
struct layer {
    char digest[LAYOUT_DIGEST_CAPACITY];
    uint64_t size;
    bool is_foreign; /* the layer has another type */
    char name_space[LAYOUT_NAME_SPACE_CAPACITY];
};

/* An image, whose newest layers come first. */
struct image {
    size_t count;
    struct layer *layers; /* freed by the owner of the image */
};

/* Adds a copy of a layer. Returns false if memory runs out. */
bool image_add(struct image *image, const struct layer *layer);

/* Creates the directories of a layout that are missing. */
ingot_status_t layout_make(const char *directory);
/* Reads the image of the layout. @retval INGOT_NOT_FOUND  There is none. */
ingot_status_t layout_read_image(const char *directory, struct image *image);
/* Replaces the image of the layout, and then removes blobs that it does not need. */
ingot_status_t layout_write_image(const char *directory, const struct image *image, uint64_t entry_count,
                                  uint64_t entry_bytes);

/* Compares a layer's size and digest, and opens it as a bundle. @retval INGOT_BLOB_CORRUPT, and those of a bundle */
ingot_status_t layout_open_layer(const char *directory, const struct layer *layer, ingot_storage_t *bundle);
/* Writes the path of a file for a new layer. */
void layout_new_path(const char *directory, char path[LAYOUT_PATH_CAPACITY]);
/* Names the new file by its digest. Sets the digest and the size of the layer. */
ingot_status_t layout_take_layer(const char *directory, struct layer *layer);

#endif
