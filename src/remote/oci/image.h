/*
 * image.h - reads and writes the manifest and the index of an image; see doc/oci-format.md.
 *
 * Anyone who can write to the registry can write anything, so sizes are compared with each other and with limits before
 * memory is allocated for them, and each entry is only used if it has the digest that the index says.
 */
#ifndef INGOT_REMOTE_OCI_IMAGE_H
#define INGOT_REMOTE_OCI_IMAGE_H

#include <ingot/ingot.h>
#include <stdbool.h>

#include "remote/oci/registry.h"

#define IMAGE_KEY_SIZE 32u
#define IMAGE_MOST_MANIFEST_BYTES (4u << 20)
#define IMAGE_MOST_INDEX_BYTES (64u << 20)
#define IMAGE_MOST_LAYERS 4096u

/* Names a blob of the registry: the configuration, the index or a layer of an image. */
struct image_blob {
    char digest[REGISTRY_DIGEST_CAPACITY]; /* "sha256:" and hexadecimal digits */
    uint64_t size;
};

/* A record of the index: the place of an entry in a layer, and its digest. */
struct image_entry {
    uint8_t key[IMAGE_KEY_SIZE];    /* the object's key (remote-format.md), as bytes */
    uint8_t digest[IMAGE_KEY_SIZE]; /* of the object */
    uint32_t layer;                 /* index into the image's layers */
    uint64_t offset;                /* in the layer */
    uint64_t size;
};

/* The content of an image's manifest and index. Other files may read the fields. */
struct image {
    struct image_blob config;
    struct image_blob index;
    size_t layer_count;
    struct image_blob *layers; /* the layers that hold entries, which are all layers but the index */
    size_t entry_count;
    struct image_entry *entries; /* ascending by key */
};

void image_fini(struct image *image);

/* Reads a manifest from the body of an answer. @retval OUTCOME_DONE, OUTCOME_BAD_ANSWER, OUTCOME_NO_MEMORY */
enum outcome image_read_manifest(struct image *image, struct request *request, const struct registry_body *body);
/* Reads an index from the body of an answer. The manifest must have been read before. */
enum outcome image_read_index(struct image *image, struct request *request, const struct registry_body *body);
/* Initializes an image, and requests and reads its manifest. OUTCOME_MISSING: the registry has none. */
enum outcome image_load_manifest(struct image *image, struct registry *registry, struct request *request);
/* Requests the index from the registry and reads it. The manifest must have been loaded before. After a failure, the
 * image is empty. */
enum outcome image_load_index(struct image *image, struct registry *registry, struct request *request);

/* Computes the digest that the index has for an object. It is BLAKE2b, because libsodium's SHA-256 takes nearly three
 * times as long. */
void image_digest(size_t size, const uint8_t *object, uint8_t digest[IMAGE_KEY_SIZE]);

/* Returns the entry with this key, or NULL. */
const struct image_entry *image_find(const struct image *image, const uint8_t key[IMAGE_KEY_SIZE]);
/* Sorts the entries by key. */
void image_sort(struct image *image);
/* Returns the index of the image's entries as bytes, which the caller frees. NULL: out of memory. */
uint8_t *image_write_index(const struct image *image, size_t *size);

/* A named text that describes the image. It is written as an annotation of the manifest and as a label of the
 * configuration. */
struct image_note {
    const char *name;
    const char *value;
};

/* Return the configuration and the manifest of an image as JSON, with `count` notes. The caller frees it with
 * cJSON_free. NULL: out of memory. */
char *image_write_config(const struct image *image, size_t count, const struct image_note *notes);
char *image_write_manifest(const struct image *image, size_t config_size, size_t count, const struct image_note *notes);

/* Sets `key` to the key of the object with this id; see struct image_entry. */
void image_key_of(size_t id_size, const uint8_t *id, uint8_t key[IMAGE_KEY_SIZE]);

#endif
