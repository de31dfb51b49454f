/*
 * layout.c - reads and writes the files of an OCI image layout; see layout.h.
 */
#include "remote/image/layout.h"

#include <cjson/cJSON.h>
#include <dirent.h>
#include <errno.h>
#include <ingot/backend.h>
#include <ingot/private/remote.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/hex.h"

#define MOST_JSON_BYTES (4u << 20)
#define MOST_JSON_ITEMS 262144u
#define CHUNK_SIZE 8192u
#define MANIFEST_TYPE "application/vnd.oci.image.manifest.v1+json"
#define CONFIG_TYPE "application/vnd.oci.image.config.v1+json"
#define STORE_TYPE "application/vnd.ingot.image.v1"
#define LAYER_TYPE "application/vnd.ingot.bundle.v1"
#define NAME_NOTE "org.opencontainers.image.ref.name"
#define NAME_SPACE_NOTE "ingot.namespace"

bool image_add(struct image *image, const struct layer *layer)
{
    struct layer *layers = realloc(image->layers, (image->count + 1) * sizeof(*layers));
    if (layers == NULL)
        return false;
    image->layers = layers;
    layers[image->count++] = *layer;
    return true;
}

/* ---- files ---- */

static ingot_status_t fail_at(const char *doing, const char *path)
{
    return ingot_set_error(errno == ENOENT   ? INGOT_NOT_FOUND
                           : errno == ENOSPC ? INGOT_NO_SPACE
                                             : INGOT_IO_ERROR,
                           errno, "%s %s: %s", doing, path, strerror(errno));
}

ingot_status_t layout_make(const char *directory)
{
    static const char *const folders[] = {"", "/blobs", "/blobs/sha256"};
    char path[LAYOUT_PATH_CAPACITY];
    for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); ++i) {
        (void)snprintf(path, sizeof(path), "%s%s", directory, folders[i]);
        if (mkdir(path, 0777) != 0 && errno != EEXIST)
            return fail_at("creating", path);
    }
    return INGOT_SUCCESS;
}

static void blob_path(const char *directory, const char *digest, char path[LAYOUT_PATH_CAPACITY])
{
    (void)snprintf(path, LAYOUT_PATH_CAPACITY, "%s/blobs/sha256/%s", directory, digest + 7);
}

void layout_new_path(const char *directory, char path[LAYOUT_PATH_CAPACITY])
{
    (void)snprintf(path, LAYOUT_PATH_CAPACITY, "%s/blobs/sha256/layer-%ld", directory, (long)getpid());
}

/* Reads a file and computes its digest. Also keeps its bytes, with a NUL, if `text` is not NULL; the caller frees
 * them. */
static ingot_status_t read_file(const char *path, uint64_t max_size, char **text, struct layer *found)
{
    uint8_t chunk[CHUNK_SIZE];
    unsigned char hash[crypto_hash_sha256_BYTES];
    crypto_hash_sha256_state state;
    size_t size;
    FILE *stream = fopen(path, "re");
    if (stream == NULL)
        return fail_at("opening", path);
    char *kept = text != NULL ? malloc(max_size + 1) : NULL;
    *found = (struct layer){.size = 0};
    (void)crypto_hash_sha256_init(&state);
    while ((text == NULL || kept != NULL) && (size = fread(chunk, 1, sizeof(chunk), stream)) != 0 &&
           size <= max_size - found->size) {
        (void)crypto_hash_sha256_update(&state, chunk, size);
        if (kept != NULL)
            memcpy(kept + found->size, chunk, size);
        found->size += size;
    }
    const bool is_whole = feof(stream) != 0;
    (void)fclose(stream);
    (void)crypto_hash_sha256_final(&state, hash);
    memcpy(found->digest, "sha256:", 7);
    hex_put(found->digest + 7, sizeof(hash), hash);
    found->digest[LAYOUT_DIGEST_CAPACITY - 1] = '\0';
    if (kept != NULL)
        kept[found->size] = '\0';
    if (is_whole && text != NULL)
        *text = kept;
    else
        free(kept);
    return is_whole ? INGOT_SUCCESS
                    : ingot_set_error_detail(INGOT_IO_ERROR, "%s cannot be read, or has more than %llu bytes", path,
                                             (unsigned long long)max_size);
}

/* Reads a blob, and compares its size and its digest. */
static ingot_status_t read_blob(const char *directory, const struct layer *blob, uint64_t max_size, char **text)
{
    char path[LAYOUT_PATH_CAPACITY];
    struct layer found;
    blob_path(directory, blob->digest, path);
    const ingot_status_t status = read_file(path, max_size, text, &found);
    if (status != INGOT_SUCCESS || (found.size == blob->size && strcmp(found.digest, blob->digest) == 0))
        return status;
    return ingot_set_error_detail(INGOT_BLOB_CORRUPT, "%s does not have the digest that it is named by", path);
}

ingot_status_t layout_open_layer(const char *directory, const struct layer *layer, ingot_storage_t *bundle)
{
    char path[LAYOUT_PATH_CAPACITY];
    if (layer->is_foreign)
        return ingot_set_error_detail(INGOT_BLOB_CORRUPT, "the layer %s is not one of Ingot's", layer->digest);
    blob_path(directory, layer->digest, path);
    const ingot_status_t status = read_blob(directory, layer, UINT64_MAX, NULL);
    return status == INGOT_SUCCESS ? ingot_persist_open_bundle(bundle, path, NULL) : status;
}

ingot_status_t layout_take_layer(const char *directory, struct layer *layer)
{
    char from[LAYOUT_PATH_CAPACITY];
    char to[LAYOUT_PATH_CAPACITY];
    struct layer found;
    layout_new_path(directory, from);
    const ingot_status_t status = read_file(from, UINT64_MAX, NULL, &found);
    if (status != INGOT_SUCCESS)
        return status;
    memcpy(layer->digest, found.digest, sizeof(found.digest));
    layer->size = found.size;
    blob_path(directory, layer->digest, to);
    return rename(from, to) == 0 ? INGOT_SUCCESS : fail_at("writing", to);
}

/* ---- reading ---- */

/* Parses JSON unless it has so many items that they would take far more memory than the text. */
static cJSON *parse_json(const char *text)
{
    size_t count = 0;
    for (const char *c = text; c != NULL && *c != '\0'; ++c)
        count += *c == ',' || *c == '[' || *c == '{';
    return text != NULL && count <= MOST_JSON_ITEMS ? cJSON_Parse(text) : NULL;
}

static const char *text_of(const cJSON *object, const char *name)
{
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, name));
    return text != NULL ? text : "";
}

/* Reads the digest and the size of a blob. Returns false if they are not valid. */
static bool read_descriptor(const cJSON *descriptor, struct layer *layer)
{
    const char *text = text_of(descriptor, "digest");
    const cJSON *number = cJSON_GetObjectItemCaseSensitive(descriptor, "size");
    if (strlen(text) != LAYOUT_DIGEST_CAPACITY - 1 || strncmp(text, "sha256:", 7) != 0 ||
        strspn(text + 7, "0123456789abcdef") != 64 || !cJSON_IsNumber(number) ||
        !(number->valuedouble >= 1 && number->valuedouble < 9007199254740992.0))
        return false;
    *layer = (struct layer){.size = (uint64_t)number->valuedouble};
    memcpy(layer->digest, text, LAYOUT_DIGEST_CAPACITY);
    return true;
}

static ingot_status_t read_layers(const cJSON *manifest, struct image *image)
{
    const cJSON *item = NULL;
    cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(manifest, "layers"))
    {
        struct layer layer;
        const cJSON *notes = cJSON_GetObjectItemCaseSensitive(item, "annotations");
        const char *name_space = text_of(notes, NAME_SPACE_NOTE);
        if (!read_descriptor(item, &layer))
            return ingot_set_error_detail(INGOT_BLOB_CORRUPT, "the image's manifest is malformed");
        layer.is_foreign =
            strcmp(text_of(item, "mediaType"), LAYER_TYPE) != 0 || strlen(name_space) >= LAYOUT_NAME_SPACE_CAPACITY;
        (void)snprintf(layer.name_space, sizeof(layer.name_space), "%s", name_space);
        if (!image_add(image, &layer))
            return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for an image");
    }
    return INGOT_SUCCESS;
}

/* Returns the descriptor of the store's image in the layout's index, or that of its only image. */
static const cJSON *find_image(const cJSON *index)
{
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(index, "manifests");
    const cJSON *image = NULL;
    cJSON_ArrayForEach(image, list)
    {
        const cJSON *notes = cJSON_GetObjectItemCaseSensitive(image, "annotations");
        if (strcmp(text_of(notes, NAME_NOTE), INGOT_IMAGE_TAG) == 0)
            return image;
    }
    return cJSON_GetArraySize(list) == 1 ? list->child : NULL;
}

ingot_status_t layout_read_image(const char *directory, struct image *image)
{
    char path[LAYOUT_PATH_CAPACITY];
    struct layer manifest;
    char *text = NULL;
    *image = (struct image){.layers = NULL};
    (void)snprintf(path, sizeof(path), "%s/index.json", directory);
    ingot_status_t status = read_file(path, MOST_JSON_BYTES, &text, &manifest);
    cJSON *json = status == INGOT_SUCCESS ? parse_json(text) : NULL;
    if (status == INGOT_SUCCESS && !read_descriptor(find_image(json), &manifest))
        status = ingot_set_error_detail(INGOT_NOT_FOUND, "%s names no image of a store", path);
    cJSON_Delete(json);
    free(text);
    if (status != INGOT_SUCCESS)
        return status;
    text = NULL;
    status = read_blob(directory, &manifest, MOST_JSON_BYTES, &text);
    json = status == INGOT_SUCCESS ? parse_json(text) : NULL;
    if (status == INGOT_SUCCESS && json == NULL)
        status = ingot_set_error_detail(INGOT_BLOB_CORRUPT, "the image's manifest is malformed");
    if (status == INGOT_SUCCESS)
        status = read_layers(json, image);
    cJSON_Delete(json);
    free(text);
    if (status != INGOT_SUCCESS)
        free(image->layers);
    return status;
}

ingot_status_t ingot_image_for_each(const char *directory, ingot_image_visit_t visit, void *user)
{
    struct image image;
    ingot_status_t status = layout_read_image(directory, &image);
    if (status != INGOT_SUCCESS)
        return status;
    for (size_t i = 0; i < image.count && status == INGOT_SUCCESS; ++i) {
        ingot_storage_t bundle = NULL;
        const ingot_status_t opened = layout_open_layer(directory, &image.layers[i], &bundle);
        status = visit(bundle, opened, image.layers[i].name_space, user);
        ingot_storage_release(bundle);
    }
    free(image.layers);
    return status;
}

/* ---- writing ---- */

static ingot_status_t write_text(const char *path, const char *text)
{
    FILE *stream = fopen(path, "we");
    if (stream == NULL)
        return fail_at("creating", path);
    const bool is_written = fputs(text, stream) >= 0;
    return fclose(stream) == 0 && is_written ? INGOT_SUCCESS : fail_at("writing", path);
}

/* Removes all blobs but those of the image. */
static void remove_unused(const char *directory, const struct image *image, const char *manifest, const char *config)
{
    char path[LAYOUT_PATH_CAPACITY];
    (void)snprintf(path, sizeof(path), "%s/blobs/sha256", directory);
    DIR *folder = opendir(path);
    const struct dirent *found;
    while (folder != NULL && (found = readdir(folder)) != NULL) {
        bool is_used = found->d_name[0] == '.' || strcmp(found->d_name, manifest + 7) == 0 ||
                       strcmp(found->d_name, config + 7) == 0;
        for (size_t i = 0; i < image->count && !is_used; ++i)
            is_used = strcmp(found->d_name, image->layers[i].digest + 7) == 0;
        if (!is_used)
            (void)unlinkat(dirfd(folder), found->d_name, 0);
    }
    if (folder != NULL)
        (void)closedir(folder);
}

/* Makes the text of the configuration or, if there is one, that of the manifest, and writes it as a blob. */
static ingot_status_t write_description(const char *directory, const struct image *image, uint64_t entry_count,
                                        uint64_t entry_bytes, const struct layer *config, struct layer *blob)
{
    char path[LAYOUT_PATH_CAPACITY];
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (out == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for an image");
    if (config == NULL)
        (void)fprintf(out,
                      "{\"architecture\":\"unknown\",\"os\":\"linux\",\"config\":{\"Labels\":{"
                      "\"ingot.store/entry-count\":\"%llu\",\"ingot.store/size-bytes\":\"%llu\","
                      "\"io.kserve.km/framework\":\"ingot\",\"io.kserve.km/cache-type\":\"ingot-store\"}},"
                      "\"rootfs\":{\"type\":\"layers\",\"diff_ids\":[",
                      (unsigned long long)entry_count, (unsigned long long)entry_bytes);
    else
        (void)fprintf(out,
                      "{\"schemaVersion\":2,\"mediaType\":\"" MANIFEST_TYPE "\",\"artifactType\":\"" STORE_TYPE "\","
                      "\"config\":{\"mediaType\":\"" CONFIG_TYPE "\",\"digest\":\"%s\",\"size\":%llu},\"layers\":[",
                      config->digest, (unsigned long long)config->size);
    /* The lists of a manifest, or, for a configuration, the digests. No text needs escapes. */
    for (size_t i = 0; i < image->count; ++i) {
        const struct layer *each = &image->layers[i];
        (void)fputs(i != 0 ? "," : "", out);
        if (config == NULL)
            (void)fprintf(out, "\"%s\"", each->digest);
        else
            (void)fprintf(out,
                          "{\"mediaType\":\"" LAYER_TYPE "\",\"digest\":\"%s\",\"size\":%llu,\"annotations\":{"
                          "\"" NAME_SPACE_NOTE "\":\"%s\"}}",
                          each->digest, (unsigned long long)each->size, each->name_space);
    }
    (void)fputs(config == NULL ? "]}}" : "]}", out);
    ingot_status_t status =
        fclose(out) == 0 ? INGOT_SUCCESS : ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for an image");
    layout_new_path(directory, path);
    if (status == INGOT_SUCCESS)
        status = write_text(path, text);
    free(text);
    return status == INGOT_SUCCESS ? layout_take_layer(directory, blob) : status;
}

ingot_status_t layout_write_image(const char *directory, const struct image *image, uint64_t entry_count,
                                  uint64_t entry_bytes)
{
    struct layer config = {.size = 0};
    struct layer manifest = {.size = 0};
    char from[LAYOUT_PATH_CAPACITY];
    char to[LAYOUT_PATH_CAPACITY];
    char index[512];
    ingot_status_t status = write_description(directory, image, entry_count, entry_bytes, NULL, &config);
    if (status == INGOT_SUCCESS)
        status = write_description(directory, image, 0, 0, &config, &manifest);
    if (status != INGOT_SUCCESS)
        return status;
    (void)snprintf(to, sizeof(to), "%s/oci-layout", directory);
    status = write_text(to, "{\"imageLayoutVersion\":\"1.0.0\"}");
    (void)snprintf(index, sizeof(index),
                   "{\"schemaVersion\":2,\"manifests\":[{\"mediaType\":\"" MANIFEST_TYPE "\",\"digest\":\"%s\","
                   "\"size\":%llu,\"annotations\":{\"" NAME_NOTE "\":\"" INGOT_IMAGE_TAG "\"}}]}",
                   manifest.digest, (unsigned long long)manifest.size);
    layout_new_path(directory, from);
    if (status == INGOT_SUCCESS)
        status = write_text(from, index);
    (void)snprintf(to, sizeof(to), "%s/index.json", directory);
    if (status == INGOT_SUCCESS && rename(from, to) != 0)
        status = fail_at("writing", to);
    if (status == INGOT_SUCCESS)
        remove_unused(directory, image, manifest.digest, config.digest);
    return status;
}
