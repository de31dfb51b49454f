/*
 * image.c - reads and writes the manifest and the index of an image; see image.h.
 */
#include "remote/oci/image.h"

#include <cjson/cJSON.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "remote/object/object_key.h"
#include "util/little_endian.h"

#define MAGIC "\x89INGOCI\n"
#define MAGIC_SIZE 8u
#define VERSION 1u
#define HEADER_SIZE 64u
#define ENTRY_SIZE 96u
#define AT_VERSION 8
#define AT_HEADER_SIZE 12
#define AT_ENTRY_COUNT 16
#define AT_LAYER_COUNT 24
#define AT_DIGEST 32
#define AT_LAYER 64
#define AT_OFFSET 72
#define AT_SIZE 80

#define MOST_JSON_ITEMS 65536u /* a manifest with the most layers has a quarter of them */
#define MANIFEST_TYPE "application/vnd.oci.image.manifest.v1+json"
#define CONFIG_TYPE "application/vnd.oci.image.config.v1+json"
#define STORE_TYPE "application/vnd.ingot.store.v1"
#define INDEX_TYPE "application/vnd.ingot.index.v1"
#define ENTRIES_TYPE "application/vnd.ingot.entries.v1"

void image_fini(struct image *image)
{
    free(image->layers);
    free(image->entries);
    *image = (struct image){.layers = NULL};
}

void image_key_of(size_t id_size, const uint8_t *id, uint8_t key[IMAGE_KEY_SIZE])
{
    char hex[OBJECT_KEY_CAPACITY];
    object_key_of(OBJECT_KEY_OCI_NAME_SPACE, id_size, id, hex);
    (void)sodium_hex2bin(key, IMAGE_KEY_SIZE, hex, OBJECT_KEY_HEX_SIZE, NULL, NULL, NULL);
}

/* ---- the manifest ---- */

static bool has_text(const cJSON *object, const char *name, const char *wanted)
{
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, name));
    return text != NULL && strcmp(text, wanted) == 0;
}

/* Reads the JSON that describes a blob of this media type. Returns false if it is not valid. */
static bool read_blob_descriptor(const cJSON *descriptor, const char *type, struct image_blob *blob)
{
    const char *digest = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(descriptor, "digest"));
    const cJSON *size = cJSON_GetObjectItemCaseSensitive(descriptor, "size");
    if (!has_text(descriptor, "mediaType", type) || digest == NULL || strlen(digest) != REGISTRY_DIGEST_CAPACITY - 1 ||
        strncmp(digest, "sha256:", 7) != 0 || strspn(digest + 7, "0123456789abcdef") != 64 || !cJSON_IsNumber(size) ||
        !(size->valuedouble >= 1 && size->valuedouble < 9007199254740992.0))
        return false;
    memcpy(blob->digest, digest, REGISTRY_DIGEST_CAPACITY);
    blob->size = (uint64_t)size->valuedouble;
    return true;
}

static bool read_layers(struct image *image, const cJSON *layers)
{
    const cJSON *layer = layers != NULL ? layers->child : NULL;
    const int count = cJSON_GetArraySize(layers);
    if (!cJSON_IsArray(layers) || count < 1 || (unsigned)count > IMAGE_MOST_LAYERS + 1 ||
        !read_blob_descriptor(layer, INDEX_TYPE, &image->index))
        return false;
    image->layers = calloc((size_t)count, sizeof(*image->layers)); /* one more than needed */
    for (layer = layer->next; layer != NULL && image->layers != NULL; layer = layer->next) {
        if (!read_blob_descriptor(layer, ENTRIES_TYPE, &image->layers[image->layer_count++]))
            return false;
    }
    return image->layers != NULL;
}

/* Parses JSON unless it has so many items that they would take far more memory than the text. */
static cJSON *parse_image_json(const struct registry_body *body)
{
    size_t count = 0;
    for (size_t i = 0; i < body->size; ++i)
        count += body->bytes[i] == ',' || body->bytes[i] == '[' || body->bytes[i] == '{';
    return count <= MOST_JSON_ITEMS ? cJSON_ParseWithLength((const char *)body->bytes, body->size) : NULL;
}

enum outcome image_read_manifest(struct image *image, struct request *request, const struct registry_body *body)
{
    *image = (struct image){.layers = NULL};
    cJSON *json = parse_image_json(body);
    const bool is_ours = has_text(json, "artifactType", STORE_TYPE);
    const bool is_valid =
        is_ours &&
        read_blob_descriptor(cJSON_GetObjectItemCaseSensitive(json, "config"), CONFIG_TYPE, &image->config) &&
        read_layers(image, cJSON_GetObjectItemCaseSensitive(json, "layers"));
    cJSON_Delete(json);
    if (is_valid && image->index.size >= HEADER_SIZE && image->index.size <= IMAGE_MOST_INDEX_BYTES)
        return OUTCOME_DONE;
    image_fini(image);
    return request_fail(request, OUTCOME_BAD_ANSWER,
                        is_ours ? "the image's manifest is malformed, or its index is too large"
                                : "the image is not one of Ingot's stores");
}

/* ---- the index ---- */

static bool read_index_entry(const struct image *image, const uint8_t *at, struct image_entry *entry)
{
    memcpy(entry->key, at, IMAGE_KEY_SIZE);
    memcpy(entry->digest, at + AT_DIGEST, IMAGE_KEY_SIZE);
    entry->layer = le_get_u32(at + AT_LAYER);
    entry->offset = le_get_u64(at + AT_OFFSET);
    entry->size = le_get_u64(at + AT_SIZE);
    return entry->layer < image->layer_count && entry->size != 0 && entry->size <= image->layers[entry->layer].size &&
           entry->offset <= image->layers[entry->layer].size - entry->size;
}

static int compare_image_entries(const void *a, const void *b)
{
    return memcmp(((const struct image_entry *)a)->key, ((const struct image_entry *)b)->key, IMAGE_KEY_SIZE);
}

enum outcome image_read_index(struct image *image, struct request *request, const struct registry_body *body)
{
    const uint8_t *bytes = body->bytes;
    if (body->size < HEADER_SIZE || memcmp(bytes, MAGIC, MAGIC_SIZE) != 0 ||
        le_get_u32(bytes + AT_VERSION) != VERSION || le_get_u32(bytes + AT_HEADER_SIZE) != HEADER_SIZE)
        return request_fail(request, OUTCOME_BAD_ANSWER, "the image's index is malformed, or of another version");
    const size_t count = (body->size - HEADER_SIZE) / ENTRY_SIZE;
    if (le_get_u64(bytes + AT_ENTRY_COUNT) != count || body->size != HEADER_SIZE + count * ENTRY_SIZE ||
        le_get_u64(bytes + AT_LAYER_COUNT) != image->layer_count)
        return request_fail(request, OUTCOME_BAD_ANSWER,
                            "the image's index claims %llu entries in %llu layers, and has %zu in %zu",
                            (unsigned long long)le_get_u64(bytes + AT_ENTRY_COUNT),
                            (unsigned long long)le_get_u64(bytes + AT_LAYER_COUNT), count, image->layer_count);
    image->entries = calloc(count + 1, sizeof(*image->entries));
    if (image->entries == NULL)
        return request_fail(request, OUTCOME_NO_MEMORY, "no memory for %zu entries", count);
    for (size_t i = 0; i < count; ++i) {
        if (!read_index_entry(image, bytes + HEADER_SIZE + i * ENTRY_SIZE, &image->entries[i]) ||
            (i > 0 && compare_image_entries(&image->entries[i - 1], &image->entries[i]) >= 0))
            return request_fail(request, OUTCOME_BAD_ANSWER, "entry %zu of the image's index is malformed", i);
    }
    image->entry_count = count;
    return OUTCOME_DONE;
}

enum outcome image_load_manifest(struct image *image, struct registry *registry, struct request *request)
{
    struct registry_body body = {0, NULL};
    *image = (struct image){.layers = NULL};
    enum outcome outcome = registry_get_manifest(registry, request, IMAGE_MOST_MANIFEST_BYTES, &body);
    if (outcome != OUTCOME_DONE)
        return outcome;
    outcome = image_read_manifest(image, request, &body);
    free(body.bytes);
    return outcome;
}

enum outcome image_load_index(struct image *image, struct registry *registry, struct request *request)
{
    struct registry_body body = {0, NULL};
    enum outcome outcome =
        registry_get_blob(registry, request, image->index.digest, true, 0, (size_t)image->index.size, &body);
    if (outcome == OUTCOME_MISSING)
        outcome = request_fail(request, OUTCOME_BAD_ANSWER, "the registry lacks the image's index");
    if (outcome == OUTCOME_DONE)
        outcome = image_read_index(image, request, &body);
    free(body.bytes);
    if (outcome != OUTCOME_DONE)
        image_fini(image);
    return outcome;
}

void image_digest(size_t size, const uint8_t *object, uint8_t digest[IMAGE_KEY_SIZE])
{
    (void)crypto_generichash_blake2b(digest, IMAGE_KEY_SIZE, object, size, NULL, 0);
}

const struct image_entry *image_find(const struct image *image, const uint8_t key[IMAGE_KEY_SIZE])
{
    struct image_entry wanted;
    memcpy(wanted.key, key, IMAGE_KEY_SIZE);
    return image->entry_count != 0
               ? bsearch(&wanted, image->entries, image->entry_count, sizeof(*image->entries), compare_image_entries)
               : NULL;
}

void image_sort(struct image *image)
{
    if (image->entry_count > 1)
        qsort(image->entries, image->entry_count, sizeof(*image->entries), compare_image_entries);
}

uint8_t *image_write_index(const struct image *image, size_t *size)
{
    *size = HEADER_SIZE + image->entry_count * ENTRY_SIZE;
    uint8_t *bytes = calloc(1, *size);
    if (bytes == NULL)
        return NULL;
    memcpy(bytes, MAGIC, MAGIC_SIZE);
    le_put_u32(bytes + AT_VERSION, VERSION);
    le_put_u32(bytes + AT_HEADER_SIZE, HEADER_SIZE);
    le_put_u64(bytes + AT_ENTRY_COUNT, image->entry_count);
    le_put_u64(bytes + AT_LAYER_COUNT, image->layer_count);
    for (size_t i = 0; i < image->entry_count; ++i) {
        const struct image_entry *entry = &image->entries[i];
        uint8_t *at = bytes + HEADER_SIZE + i * ENTRY_SIZE;
        memcpy(at, entry->key, IMAGE_KEY_SIZE);
        memcpy(at + AT_DIGEST, entry->digest, IMAGE_KEY_SIZE);
        le_put_u32(at + AT_LAYER, entry->layer);
        le_put_u64(at + AT_OFFSET, entry->offset);
        le_put_u64(at + AT_SIZE, entry->size);
    }
    return bytes;
}

/* ---- JSON ---- */

static void add_notes(cJSON *object, const char *name, size_t count, const struct image_note *notes)
{
    cJSON *list = cJSON_AddObjectToObject(object, name);
    for (size_t i = 0; i < count; ++i) {
        if (notes[i].value[0] != '\0')
            (void)cJSON_AddStringToObject(list, notes[i].name, notes[i].value);
    }
}

static cJSON *descriptor_of(const char *type, const struct image_blob *blob)
{
    cJSON *descriptor = cJSON_CreateObject();
    (void)cJSON_AddStringToObject(descriptor, "mediaType", type);
    (void)cJSON_AddStringToObject(descriptor, "digest", blob->digest);
    (void)cJSON_AddNumberToObject(descriptor, "size", (double)blob->size);
    return descriptor;
}

static char *print_image_json(cJSON *json)
{
    char *text = cJSON_PrintUnformatted(json);
    cJSON_Delete(json);
    return text;
}

/* diff_ids lists the digests of the uncompressed layers. Ingot does not compress layers, so these are their digests. */
char *image_write_config(const struct image *image, size_t count, const struct image_note *notes)
{
    cJSON *json = cJSON_CreateObject();
    (void)cJSON_AddStringToObject(json, "architecture", "unknown");
    (void)cJSON_AddStringToObject(json, "os", "linux");
    add_notes(cJSON_AddObjectToObject(json, "config"), "Labels", count, notes);
    cJSON *root = cJSON_AddObjectToObject(json, "rootfs");
    (void)cJSON_AddStringToObject(root, "type", "layers");
    cJSON *list = cJSON_AddArrayToObject(root, "diff_ids");
    (void)cJSON_AddItemToArray(list, cJSON_CreateString(image->index.digest));
    for (size_t i = 0; i < image->layer_count; ++i)
        (void)cJSON_AddItemToArray(list, cJSON_CreateString(image->layers[i].digest));
    return print_image_json(json);
}

char *image_write_manifest(const struct image *image, size_t config_size, size_t count, const struct image_note *notes)
{
    struct image_blob config = image->config;
    cJSON *json = cJSON_CreateObject();
    config.size = config_size;
    (void)cJSON_AddNumberToObject(json, "schemaVersion", 2);
    (void)cJSON_AddStringToObject(json, "mediaType", MANIFEST_TYPE);
    (void)cJSON_AddStringToObject(json, "artifactType", STORE_TYPE);
    (void)cJSON_AddItemToObject(json, "config", descriptor_of(CONFIG_TYPE, &config));
    cJSON *layers = cJSON_AddArrayToObject(json, "layers");
    (void)cJSON_AddItemToArray(layers, descriptor_of(INDEX_TYPE, &image->index));
    for (size_t i = 0; i < image->layer_count; ++i)
        (void)cJSON_AddItemToArray(layers, descriptor_of(ENTRIES_TYPE, &image->layers[i]));
    add_notes(json, "annotations", count, notes);
    return print_image_json(json);
}
