/*
 * layout.h - reads and writes the files of an OCI image layout; see doc/oci-format.md.
 *
 * Other tools write layouts, too, and registries may hold anything. So a blob is used only if it has its digest, and
 * sizes are compared with limits before memory is allocated for them.
 */
#ifndef INGOT_REMOTE_IMAGE_LAYOUT_H
#define INGOT_REMOTE_IMAGE_LAYOUT_H

#include <ingot/ingot.h>
#include <stdbool.h>

#define LAYOUT_DIGEST_CAPACITY 72u   /* "sha256:" and 64 hexadecimal digits */
#define LAYOUT_PACK_BYTES (8u << 20) /* a layer is not extended beyond this size */
#define LAYOUT_MOST_LAYERS 4096u
#define LAYOUT_FRAME_SIZE 8u /* in front of each entry: the size of its namespace, and 4 bytes of zeros */
#define LAYOUT_MOST_NAME_SPACE_BYTES 64u

/* A layer of an image. Other files may read the fields. */
struct layer {
    char digest[LAYOUT_DIGEST_CAPACITY];
    uint64_t size;
    bool is_foreign;   /* the layer has another type */
    size_t dead_count; /* entries of the layer that the image does not have any more */
    uint32_t *dead;    /* their numbers in the layer, ascending */
};

struct image {
    size_t count;
    struct layer *layers;
};

/* A file in memory. */
struct layout_file {
    size_t size;
    uint8_t *bytes; /* the caller frees them */
};

void image_fini(struct image *image);
/* Adds a layer with no dead entries. Returns NULL if memory runs out. */
struct layer *image_add(struct image *image, const char *digest, uint64_t size);
/* True if the entry of the layer with this number is dead. */
bool layer_is_dead(const struct layer *layer, uint32_t number);

/* Creates the directories of a layout that are missing. */
ingot_status_t layout_make(const char *directory);
/* Reads the image of the layout. @retval INGOT_NOT_FOUND  There is none. */
ingot_status_t layout_read_image(const char *directory, struct image *image);
/* Replaces the image of the layout. `notes` describe it. Removes blobs that it does not need, if it is the only one. */
ingot_status_t layout_write_image(const char *directory, const struct image *image, uint64_t entry_count,
                                  uint64_t entry_bytes);

/* Reads a blob of at most max_size bytes, and compares its size and its digest.
 * @retval INGOT_NOT_FOUND, INGOT_BLOB_CORRUPT, INGOT_NO_SPACE, INGOT_IO_ERROR, INGOT_OUT_OF_MEMORY */
ingot_status_t layout_read_blob(const char *directory, const char *digest, uint64_t size, uint64_t max_size,
                                struct layout_file *file);
/* Writes a blob unless it is there. */
ingot_status_t layout_write_blob(const char *directory, size_t size, const void *bytes,
                                 char digest[LAYOUT_DIGEST_CAPACITY]);

/* An entry in the bytes of a layer. */
struct layer_entry {
    char name_space[LAYOUT_MOST_NAME_SPACE_BYTES + 1];
    size_t size; /* of the frame, the namespace and the object */
    const uint8_t *object;
    size_t object_size;
    const uint8_t *id;
    size_t id_size;
};

/* Reads the entry that begins at `bytes`. Returns false if there is none. */
bool layer_read_entry(size_t available, const uint8_t *bytes, struct layer_entry *entry);

#endif
