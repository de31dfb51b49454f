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

#include "remote/object/envelope.h"
#include "util/hex.h"
#include "util/little_endian.h"

#define PATH_CAPACITY 4352u
#define MOST_JSON_BYTES (4u << 20)
#define MOST_JSON_ITEMS 262144u
#define MANIFEST_TYPE "application/vnd.oci.image.manifest.v1+json"
#define CONFIG_TYPE "application/vnd.oci.image.config.v1+json"
#define STORE_TYPE "application/vnd.ingot.store.v2"
#define ENTRIES_TYPE "application/vnd.ingot.entries.v2"
#define NAME_NOTE "org.opencontainers.image.ref.name"
#define DEAD_NOTE "ingot.dead"

/* ---- images ---- */

void image_fini(struct image *image)
{
    for (size_t i = 0; i < image->count; ++i)
        free(image->layers[i].dead);
    free(image->layers);
    *image = (struct image){.layers = NULL};
}

struct layer *image_add(struct image *image, const char *digest, uint64_t size)
{
    struct layer *layers = realloc(image->layers, (image->count + 1) * sizeof(*layers));
    if (layers == NULL)
        return NULL;
    image->layers = layers;
    struct layer *layer = &layers[image->count++];
    *layer = (struct layer){.size = size};
    memcpy(layer->digest, digest, LAYOUT_DIGEST_CAPACITY);
    return layer;
}

bool layer_is_dead(const struct layer *layer, uint32_t number)
{
    for (size_t i = 0; i < layer->dead_count; ++i)
        if (layer->dead[i] == number)
            return true;
    return false;
}

bool layer_read_entry(size_t available, const uint8_t *bytes, struct layer_entry *entry)
{
    const size_t name_size = available >= LAYOUT_FRAME_SIZE ? le_get_u32(bytes) : SIZE_MAX;
    if (name_size > LAYOUT_MOST_NAME_SPACE_BYTES || available - LAYOUT_FRAME_SIZE < name_size)
        return false;
    const size_t head = LAYOUT_FRAME_SIZE + name_size;
    memcpy(entry->name_space, bytes + LAYOUT_FRAME_SIZE, name_size);
    entry->name_space[name_size] = '\0';
    entry->object = bytes + head;
    entry->id = entry->object + ENVELOPE_HEADER_SIZE;
    if (strlen(entry->name_space) != name_size ||
        !envelope_measure(available - head, entry->object, &entry->id_size, &entry->object_size))
        return false;
    entry->size = head + entry->object_size;
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
    char path[PATH_CAPACITY];
    for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); ++i) {
        (void)snprintf(path, sizeof(path), "%s%s", directory, folders[i]);
        if (mkdir(path, 0777) != 0 && errno != EEXIST)
            return fail_at("creating", path);
    }
    return INGOT_SUCCESS;
}

static ingot_status_t read_file(const char *path, uint64_t max_size, struct layout_file *file)
{
    struct stat found;
    FILE *stream = fopen(path, "re");
    *file = (struct layout_file){0, NULL};
    if (stream == NULL)
        return fail_at("opening", path);
    ingot_status_t status = INGOT_SUCCESS;
    if (fstat(fileno(stream), &found) != 0 || !S_ISREG(found.st_mode) || (uint64_t)found.st_size > max_size)
        status = ingot_set_error_detail(INGOT_NO_SPACE, "%s is not a file of at most %llu bytes", path,
                                        (unsigned long long)max_size);
    else if ((file->bytes = malloc((size_t)found.st_size + 1)) == NULL)
        status = ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for %s", path);
    else if ((file->size = fread(file->bytes, 1, (size_t)found.st_size, stream)) != (size_t)found.st_size)
        status = ingot_set_error_detail(INGOT_IO_ERROR, "reading %s failed", path);
    (void)fclose(stream);
    return status;
}

/* Replaces a file in one step. */
static ingot_status_t write_file(const char *path, size_t size, const void *bytes)
{
    char other[PATH_CAPACITY + 32];
    (void)snprintf(other, sizeof(other), "%s.new%ld", path, (long)getpid());
    FILE *stream = fopen(other, "we");
    if (stream == NULL)
        return fail_at("creating", other);
    const bool is_written = fwrite(bytes, 1, size, stream) == size;
    if (fclose(stream) == 0 && is_written && rename(other, path) == 0)
        return INGOT_SUCCESS;
    const ingot_status_t status = fail_at("writing", path);
    (void)unlink(other);
    return status;
}

static void digest_of(size_t size, const void *bytes, char digest[LAYOUT_DIGEST_CAPACITY])
{
    unsigned char hash[crypto_hash_sha256_BYTES];
    (void)crypto_hash_sha256(hash, bytes, size);
    memcpy(digest, "sha256:", 7);
    hex_put(digest + 7, sizeof(hash), hash);
    digest[LAYOUT_DIGEST_CAPACITY - 1] = '\0';
}

static void blob_path(const char *directory, const char *digest, char path[PATH_CAPACITY])
{
    (void)snprintf(path, PATH_CAPACITY, "%s/blobs/sha256/%s", directory, digest + 7);
}

ingot_status_t layout_read_blob(const char *directory, const char *digest, uint64_t size, uint64_t max_size,
                                struct layout_file *file)
{
    char path[PATH_CAPACITY];
    char found[LAYOUT_DIGEST_CAPACITY];
    blob_path(directory, digest, path);
    const ingot_status_t status = read_file(path, max_size, file);
    if (status != INGOT_SUCCESS)
        return status;
    digest_of(file->size, file->bytes, found);
    return file->size == size && strcmp(found, digest) == 0
               ? INGOT_SUCCESS
               : ingot_set_error_detail(INGOT_BLOB_CORRUPT, "%s does not have the digest that it is named by", path);
}

ingot_status_t layout_write_blob(const char *directory, size_t size, const void *bytes,
                                 char digest[LAYOUT_DIGEST_CAPACITY])
{
    char path[PATH_CAPACITY];
    struct stat found;
    digest_of(size, bytes, digest);
    blob_path(directory, digest, path);
    if (stat(path, &found) == 0 && (uint64_t)found.st_size == size)
        return INGOT_SUCCESS;
    return write_file(path, size, bytes);
}

/* ---- JSON ---- */

/* Parses JSON unless it has so many items that they would take far more memory than the text. */
static cJSON *parse_json(const struct layout_file *file)
{
    size_t count = 0;
    for (size_t i = 0; i < file->size; ++i)
        count += file->bytes[i] == ',' || file->bytes[i] == '[' || file->bytes[i] == '{';
    return count <= MOST_JSON_ITEMS ? cJSON_ParseWithLength((const char *)file->bytes, file->size) : NULL;
}

static const char *text_of(const cJSON *object, const char *name)
{
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, name));
    return text != NULL ? text : "";
}

/* Reads the digest and the size of a blob. Returns false if they are not valid. */
static bool read_descriptor(const cJSON *descriptor, char digest[LAYOUT_DIGEST_CAPACITY], uint64_t *size)
{
    const char *text = text_of(descriptor, "digest");
    const cJSON *number = cJSON_GetObjectItemCaseSensitive(descriptor, "size");
    if (strlen(text) != LAYOUT_DIGEST_CAPACITY - 1 || strncmp(text, "sha256:", 7) != 0 ||
        strspn(text + 7, "0123456789abcdef") != 64 || !cJSON_IsNumber(number) ||
        !(number->valuedouble >= 1 && number->valuedouble < 9007199254740992.0))
        return false;
    memcpy(digest, text, LAYOUT_DIGEST_CAPACITY);
    *size = (uint64_t)number->valuedouble;
    return true;
}

/* Reads the numbers of a layer's dead entries. Returns false if memory runs out. */
static bool read_dead(const char *text, struct layer *layer)
{
    size_t count = text[0] != '\0';
    for (const char *c = text; *c != '\0'; ++c)
        count += *c == ',';
    layer->dead = calloc(count + 1, sizeof(*layer->dead));
    while (layer->dead != NULL && layer->dead_count < count) {
        char *end = NULL;
        layer->dead[layer->dead_count++] = (uint32_t)strtoul(text, &end, 10);
        text = *end == ',' ? end + 1 : "";
    }
    return layer->dead != NULL;
}

static ingot_status_t read_layers(const cJSON *manifest, struct image *image)
{
    const cJSON *layer = NULL;
    cJSON_ArrayForEach(layer, cJSON_GetObjectItemCaseSensitive(manifest, "layers"))
    {
        char digest[LAYOUT_DIGEST_CAPACITY];
        uint64_t size = 0;
        if (!read_descriptor(layer, digest, &size) || image->count >= LAYOUT_MOST_LAYERS)
            return ingot_set_error_detail(INGOT_BLOB_CORRUPT, "the image's manifest is malformed");
        struct layer *added = image_add(image, digest, size);
        if (added == NULL ||
            !read_dead(text_of(cJSON_GetObjectItemCaseSensitive(layer, "annotations"), DEAD_NOTE), added))
            return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for an image");
        added->is_foreign = strcmp(text_of(layer, "mediaType"), ENTRIES_TYPE) != 0;
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
    char path[PATH_CAPACITY];
    char digest[LAYOUT_DIGEST_CAPACITY];
    uint64_t size = 0;
    struct layout_file file;
    *image = (struct image){.layers = NULL};
    (void)snprintf(path, sizeof(path), "%s/index.json", directory);
    ingot_status_t status = read_file(path, MOST_JSON_BYTES, &file);
    cJSON *json = status == INGOT_SUCCESS ? parse_json(&file) : NULL;
    if (status == INGOT_SUCCESS && !read_descriptor(find_image(json), digest, &size))
        status = ingot_set_error_detail(INGOT_NOT_FOUND, "%s names no image of a store", path);
    cJSON_Delete(json);
    free(file.bytes);
    if (status != INGOT_SUCCESS)
        return status;
    status = layout_read_blob(directory, digest, size, MOST_JSON_BYTES, &file);
    json = status == INGOT_SUCCESS ? parse_json(&file) : NULL;
    if (status == INGOT_SUCCESS)
        status = read_layers(json, image);
    cJSON_Delete(json);
    free(file.bytes);
    if (status != INGOT_SUCCESS)
        image_fini(image);
    return status;
}

static cJSON *descriptor_of(const char *type, const char *digest, uint64_t size)
{
    cJSON *descriptor = cJSON_CreateObject();
    (void)cJSON_AddStringToObject(descriptor, "mediaType", type);
    (void)cJSON_AddStringToObject(descriptor, "digest", digest);
    (void)cJSON_AddNumberToObject(descriptor, "size", (double)size);
    return descriptor;
}

static bool add_dead(cJSON *descriptor, const struct layer *layer)
{
    char *text = malloc(layer->dead_count * 11 + 1);
    size_t used = 0;
    for (size_t i = 0; text != NULL && i < layer->dead_count; ++i)
        used += (size_t)sprintf(text + used, "%s%u", i != 0 ? "," : "", (unsigned)layer->dead[i]);
    if (text != NULL && layer->dead_count != 0)
        (void)cJSON_AddStringToObject(cJSON_AddObjectToObject(descriptor, "annotations"), DEAD_NOTE, text);
    free(text);
    return text != NULL;
}

static ingot_status_t write_json(const char *directory, const char *name, cJSON *json,
                                 char digest[LAYOUT_DIGEST_CAPACITY], size_t *size)
{
    char path[PATH_CAPACITY];
    char *text = cJSON_PrintUnformatted(json);
    cJSON_Delete(json);
    if (text == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for an image");
    *size = strlen(text);
    (void)snprintf(path, sizeof(path), "%s/%s", directory, name);
    const ingot_status_t status =
        name[0] != '\0' ? write_file(path, *size, text) : layout_write_blob(directory, *size, text, digest);
    cJSON_free(text);
    return status;
}

/* Removes all blobs but those of the image. */
static void remove_unused(const char *directory, const struct image *image, const char *manifest, const char *config)
{
    char path[PATH_CAPACITY];
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

ingot_status_t layout_write_image(const char *directory, const struct image *image, uint64_t entry_count,
                                  uint64_t entry_bytes)
{
    char config[LAYOUT_DIGEST_CAPACITY] = "";
    char digest[LAYOUT_DIGEST_CAPACITY] = "";
    char number[32];
    size_t size = 0;
    cJSON *json = cJSON_CreateObject();
    (void)cJSON_AddStringToObject(json, "architecture", "unknown");
    (void)cJSON_AddStringToObject(json, "os", "linux");
    cJSON *labels = cJSON_AddObjectToObject(cJSON_AddObjectToObject(json, "config"), "Labels");
    (void)snprintf(number, sizeof(number), "%llu", (unsigned long long)entry_count);
    (void)cJSON_AddStringToObject(labels, "ingot.store/entry-count", number);
    (void)snprintf(number, sizeof(number), "%llu", (unsigned long long)entry_bytes);
    (void)cJSON_AddStringToObject(labels, "ingot.store/size-bytes", number);
    (void)cJSON_AddStringToObject(labels, "io.kserve.km/framework", "ingot"); /* names of KServe and GKM */
    (void)cJSON_AddStringToObject(labels, "io.kserve.km/cache-type", "ingot-store");
    cJSON *root = cJSON_AddObjectToObject(json, "rootfs");
    (void)cJSON_AddStringToObject(root, "type", "layers");
    cJSON *ids = cJSON_AddArrayToObject(root, "diff_ids");
    for (size_t i = 0; i < image->count; ++i)
        (void)cJSON_AddItemToArray(ids, cJSON_CreateString(image->layers[i].digest));
    ingot_status_t status = write_json(directory, "", json, config, &size);
    if (status != INGOT_SUCCESS)
        return status;

    json = cJSON_CreateObject();
    (void)cJSON_AddNumberToObject(json, "schemaVersion", 2);
    (void)cJSON_AddStringToObject(json, "mediaType", MANIFEST_TYPE);
    (void)cJSON_AddStringToObject(json, "artifactType", STORE_TYPE);
    (void)cJSON_AddItemToObject(json, "config", descriptor_of(CONFIG_TYPE, config, size));
    cJSON *layers = cJSON_AddArrayToObject(json, "layers");
    for (size_t i = 0; i < image->count; ++i) {
        cJSON *layer = descriptor_of(ENTRIES_TYPE, image->layers[i].digest, image->layers[i].size);
        (void)cJSON_AddItemToArray(layers, layer);
        if (!add_dead(layer, &image->layers[i]))
            status = ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for an image");
    }
    const ingot_status_t written = write_json(directory, "", json, digest, &size);
    if (status != INGOT_SUCCESS || written != INGOT_SUCCESS)
        return status != INGOT_SUCCESS ? status : written;

    json = cJSON_CreateObject();
    (void)cJSON_AddStringToObject(json, "imageLayoutVersion", "1.0.0");
    status = write_json(directory, "oci-layout", json, NULL, &(size_t){0});
    if (status != INGOT_SUCCESS)
        return status;
    json = cJSON_CreateObject();
    (void)cJSON_AddNumberToObject(json, "schemaVersion", 2);
    cJSON *only = descriptor_of(MANIFEST_TYPE, digest, size);
    (void)cJSON_AddStringToObject(cJSON_AddObjectToObject(only, "annotations"), NAME_NOTE, INGOT_IMAGE_TAG);
    (void)cJSON_AddItemToArray(cJSON_AddArrayToObject(json, "manifests"), only);
    status = write_json(directory, "index.json", json, NULL, &size);
    if (status == INGOT_SUCCESS)
        remove_unused(directory, image, digest, config);
    return status;
}
