/*
 * kept_request.c - packs requests into artifacts, and puts them together again; see kept_request.h.
 *
 * Texts of some size are artifacts of their own, because many programs include the same files. A text is cut at its
 * line markers, so that each included file is kept once. An artifact may come from anywhere. Its envelope is checked by
 * the core; this file checks the parts, and in the end the digest of the whole request.
 */
#include "persist/request/kept_request.h"

#include <ingot/backend.h>
#include <ingot/private/artifact.h>
#include <ingot/private/wish.h>
#include <sodium.h>
#include <string.h>

#include "persist/base/base.h"
#include "persist/directory/format/paths.h"
#include "persist/storage/storage.h"
#include "util/bytes_writer.h"
#include "util/little_endian.h"
#include "util/zstd_frame.h"

#define MAX_REQUEST_BYTES ((uint64_t)1 << 28)
#define MAX_NAME_SIZE 1023u     /* of an artifact's label */
#define COMPRESSION_LEVEL 3     /* level 6 would be a twentieth smaller, and `begin` would wait four times as long */
#define LEAST_SHARED_SIZE 4096u /* smaller texts stay in their request, because an entry has a cost, too */

enum part { PART_REQUEST, PART_TEXTS, PART_GROUP, PART_NAMESPACE, PART_DEVICE, PART_COUNT };

static const char *const part_names[PART_COUNT] = {"request", "texts", "group", "namespace", "device"};

/* A place in the part "texts": how many bytes of the request precede the text, its size and its digest. */
enum { AT_BEFORE = 0, AT_SIZE = 8, AT_DIGEST = 16, PLACE_SIZE = AT_DIGEST + INGOT_REQUEST_DIGEST_SIZE };

static ingot_status_t fail_corrupt(const char *what)
{
    return ingot_set_error_detail(INGOT_BLOB_CORRUPT, "the request is malformed: %s", what);
}

/* ---- ids ---- */

static ingot_status_t make_id(struct kept_request_id *id, const char *kind, size_t field_count,
                              const ingot_artifact_field_t *fields)
{
    const ingot_artifact_key_t key = {sizeof(key), kind, field_count, fields};
    id->size = sizeof(id->bytes);
    return ingot_artifact_key_get_id(&key, &id->size, id->bytes);
}

ingot_status_t kept_request_make_id(struct kept_request_id *id, const char *backend,
                                    const uint8_t digest[INGOT_REQUEST_DIGEST_SIZE])
{
    const ingot_artifact_field_t fields[] = {{"backend", strlen(backend), backend},
                                             {"digest", INGOT_REQUEST_DIGEST_SIZE, digest}};
    return make_id(id, INGOT_REQUEST_KIND, 2, fields);
}

static ingot_status_t make_text_id(struct kept_request_id *id, const uint8_t digest[INGOT_REQUEST_DIGEST_SIZE])
{
    const ingot_artifact_field_t field = {"digest", INGOT_REQUEST_DIGEST_SIZE, digest};
    return make_id(id, INGOT_REQUEST_TEXT_KIND, 1, &field);
}

/* What an id names. */
struct id_fields {
    bool is_request;
    char backend[sizeof(((ingot_kept_request_t *)NULL)->backend)];
    uint8_t digest[INGOT_REQUEST_DIGEST_SIZE];
    unsigned count; /* of the fields that were understood */
};

static void take_id_field(void *user, const char *path, size_t size, const uint8_t *value, bool is_text)
{
    struct id_fields *fields = user;
    (void)is_text;
    if (strcmp(path, "artifact") == 0) {
        fields->is_request = size == strlen(INGOT_REQUEST_KIND) && memcmp(value, INGOT_REQUEST_KIND, size) == 0;
    } else if (strcmp(path, "key.backend") == 0 && size != 0 && size < sizeof(fields->backend) &&
               memchr(value, '\0', size) == NULL) {
        memcpy(fields->backend, value, size);
        ++fields->count;
    } else if (strcmp(path, "key.digest") == 0 && size == sizeof(fields->digest)) {
        memcpy(fields->digest, value, size);
        ++fields->count;
    } else {
        fields->count += 3; /* not a field of a request */
    }
}

static bool read_id(struct id_fields *fields, size_t id_size, const uint8_t *id)
{
    *fields = (struct id_fields){.is_request = false};
    return id != NULL && ingot_cache_blob_id_visit(id_size, id, take_id_field, fields) == INGOT_SUCCESS &&
           fields->is_request && fields->count == 2;
}

int ingot_request_is_id(size_t id_size, const uint8_t *id)
{
    struct id_fields fields;
    return read_id(&fields, id_size, id);
}

static void take_field(void *user, const char *path, size_t size, const uint8_t *value, bool is_text)
{
    ingot_kept_request_t *request = user;
    (void)is_text;
    if (strcmp(path, "backend") == 0 && size < sizeof(request->backend))
        memcpy(request->backend, value, size);
    else if (strcmp(path, "request.blake2b") == 0 && size == sizeof(request->digest))
        memcpy(request->digest, value, size);
}

ingot_status_t ingot_wish_get_request_id(size_t id_size, const uint8_t *id, size_t *request_id_size,
                                         uint8_t *request_id)
{
    ingot_kept_request_t request = {.backend = ""};
    struct kept_request_id made;
    ingot_status_t status = ingot_cache_blob_id_visit(id_size, id, take_field, &request);
    if (status == INGOT_SUCCESS && request.backend[0] == '\0')
        status = ingot_set_error_detail(INGOT_BLOB_CORRUPT, "these bytes are not the id of a program");
    if (status == INGOT_SUCCESS)
        status = kept_request_make_id(&made, request.backend, request.digest);
    if (status != INGOT_SUCCESS)
        return status;
    if (made.size > *request_id_size)
        return ingot_set_error_detail(INGOT_BUFFER_TOO_SMALL, "the id has %zu bytes", made.size);
    *request_id_size = made.size;
    memcpy(request_id, made.bytes, made.size);
    return INGOT_SUCCESS;
}

/* ---- compression ---- */

static bool is_frame(size_t size, const uint8_t *bytes)
{
    return size >= sizeof(uint32_t) && le_get_u32(bytes) == ZSTD_MAGICNUMBER;
}

/* Appends the bytes, compressed if that makes them shorter. */
static void put_compressed(struct bytes_writer *out, size_t size, const uint8_t *bytes)
{
    uint8_t *room = bytes_reserve(out, size);
    if (room == NULL || size == 0)
        return;
    const size_t packed_size = zstd_frame_pack(size, bytes, COMPRESSION_LEVEL, room);
    if (packed_size != 0)
        out->size -= size - packed_size;
    else
        memcpy(room, bytes, size);
}

static void release_nothing(ingot_buffer_t *buffer)
{
    *buffer = (ingot_buffer_t)INGOT_BUFFER_INIT;
}

/* Decompresses bytes. If they are not compressed, *plain points to them. */
static ingot_status_t decompress(size_t size, const uint8_t *bytes, ingot_buffer_t *plain)
{
    uint8_t *unpacked = NULL;
    if (!is_frame(size, bytes)) {
        *plain = (ingot_buffer_t){size, bytes, release_nothing, NULL};
        return INGOT_SUCCESS;
    }
    const unsigned long long plain_size = ZSTD_getFrameContentSize(bytes, size);
    if (plain_size > MAX_REQUEST_BYTES) /* or one of the two values that mean an unknown size */
        return fail_corrupt("its size is not known, or too large");
    const ingot_status_t status = memory_make_buffer(&memory_c_allocator, (size_t)plain_size, plain, &unpacked);
    if (status != INGOT_SUCCESS || zstd_frame_unpack(size, bytes, (size_t)plain_size, unpacked))
        return status;
    memory_release_buffer(plain);
    return fail_corrupt("it cannot be decompressed");
}

/* ---- packing ---- */

/* A request that is being cut. */
struct cutting {
    ingot_storage_t store;
    const ingot_buffer_t *request;
    size_t done;              /* how many bytes of the request were dealt with */
    struct bytes_writer rest; /* the request without the texts that were cut out */
    struct bytes_writer places;
    ingot_status_t status;
};

/* Stores a text, unless the store has it. */
static ingot_status_t store_text(ingot_storage_t store, const uint8_t *digest, size_t size, const uint8_t *bytes)
{
    struct kept_request_id id;
    struct bytes_writer packed;
    ingot_buffer_t blob = INGOT_BUFFER_INIT;
    ingot_status_t status = make_text_id(&id, digest);
    if (status != INGOT_SUCCESS || storage_peek(store, id.size, id.bytes, &blob) == INGOT_SUCCESS) {
        memory_release_buffer(&blob);
        return status;
    }
    bytes_writer_init(&packed, &memory_c_allocator);
    put_compressed(&packed, size, bytes);
    if (packed.failed)
        status = ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for a text of a request");
    else
        status = ingot_artifact_pack(id.size, id.bytes, NULL, packed.size, packed.bytes, &blob);
    if (status == INGOT_SUCCESS)
        status = ingot_storage_store(store, id.size, id.bytes, blob.size, blob.bytes);
    memory_release_buffer(&blob);
    bytes_writer_fini(&packed);
    return status;
}

/* Returns where the line with the next line marker after `begin` begins, or `end`. */
static const uint8_t *find_marker(const uint8_t *begin, const uint8_t *end)
{
    for (const uint8_t *at = begin; at + 4 < end; ++at) {
        at = memchr(at, '\n', (size_t)(end - at) - 4);
        if (at == NULL)
            break;
        if (at[1] == '#' && at[2] == ' ' && at[3] >= '0' && at[3] <= '9')
            return at + 1;
    }
    return end;
}

/* Cuts a text of the request into pieces, and the larger ones out of the request. */
static void cut_text(void *user, const char *path, size_t size, const uint8_t *value, bool is_text)
{
    static const char suffix[] = ".text";
    struct cutting *cutting = user;
    const size_t length = strlen(path);
    const uint8_t *bytes = cutting->request->bytes;
    const uint8_t *end = value + size;
    (void)is_text;
    if (length < sizeof(suffix) || strcmp(path + length - (sizeof(suffix) - 1), suffix) != 0)
        return;
    for (const uint8_t *at = value; at < end && cutting->status == INGOT_SUCCESS;) {
        uint8_t digest[INGOT_REQUEST_DIGEST_SIZE];
        const uint8_t *next = find_marker(at, end);
        const size_t piece_size = (size_t)(next - at);
        if (piece_size >= LEAST_SHARED_SIZE && !is_frame(piece_size, at)) {
            const size_t before = (size_t)(at - bytes) - cutting->done;
            (void)crypto_generichash_blake2b(digest, sizeof(digest), at, piece_size, NULL, 0);
            bytes_put(&cutting->rest, before, bytes + cutting->done);
            bytes_put_u64(&cutting->places, before);
            bytes_put_u64(&cutting->places, piece_size);
            bytes_put(&cutting->places, sizeof(digest), digest);
            cutting->done = (size_t)(next - bytes);
            cutting->status = store_text(cutting->store, digest, piece_size, at);
        }
        at = next;
    }
}

ingot_status_t kept_request_pack(const struct kept_request_id *id, const ingot_kept_request_t *facts,
                                 const ingot_buffer_t *request, ingot_storage_t store, ingot_buffer_t *blob)
{
    ingot_artifact_part_t parts[PART_COUNT];
    ingot_artifact_info_t info = INGOT_ARTIFACT_INFO_INIT;
    struct cutting cutting = {.store = store, .request = request, .status = INGOT_SUCCESS};
    struct bytes_writer all;
    if (request->size > MAX_REQUEST_BYTES)
        return ingot_set_error_detail(INGOT_NO_SPACE, "the request has %zu bytes, more than %llu", request->size,
                                      (unsigned long long)MAX_REQUEST_BYTES);
    bytes_writer_init(&all, &memory_c_allocator);
    bytes_writer_init(&cutting.rest, &memory_c_allocator);
    bytes_writer_init(&cutting.places, &memory_c_allocator);
    ingot_status_t status = ingot_request_visit(request->size, request->bytes, cut_text, &cutting);
    if (status == INGOT_SUCCESS)
        status = cutting.status;
    bytes_put(&cutting.rest, request->size - cutting.done, request->bytes + cutting.done);
    const char *const texts[PART_COUNT] = {NULL, NULL, facts->group, facts->name_space, facts->device};
    for (size_t i = 0; i < PART_COUNT; ++i) {
        const size_t before = all.size;
        if (i == PART_REQUEST)
            put_compressed(&all, cutting.rest.size, cutting.rest.bytes);
        else if (i == PART_TEXTS)
            bytes_put(&all, cutting.places.size, cutting.places.bytes);
        else if (texts[i] != NULL && texts[i][0] != '\0')
            bytes_put(&all, strlen(texts[i]) + 1, texts[i]);
        if (all.size != before)
            parts[info.part_count++] = (ingot_artifact_part_t){part_names[i], all.size - before};
    }
    const size_t length = facts->name != NULL ? strlen(facts->name) : 0;
    info.label = length > MAX_NAME_SIZE ? facts->name + length - MAX_NAME_SIZE : facts->name;
    info.make_time_ms = facts->build_time_ms;
    info.parts = parts;
    if (status == INGOT_SUCCESS && (all.failed || cutting.rest.failed || cutting.places.failed))
        status = ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for a request");
    if (status == INGOT_SUCCESS)
        status = ingot_artifact_pack(id->size, id->bytes, &info, all.size, all.bytes, blob);
    bytes_writer_fini(&cutting.places);
    bytes_writer_fini(&cutting.rest);
    bytes_writer_fini(&all);
    return status;
}

/* ---- reading ---- */

/* Finds a part. Returns NULL if there is none. */
static const uint8_t *find_part(const ingot_buffer_t *value, const ingot_artifact_info_t *info, enum part which,
                                size_t *size)
{
    const uint8_t *bytes = value->bytes;
    for (size_t i = 0; i < info->part_count; bytes += info->parts[i++].size) {
        *size = (size_t)info->parts[i].size;
        if (strcmp(info->parts[i].name, part_names[which]) == 0)
            return bytes;
    }
    *size = 0;
    return NULL;
}

static bool read_text_part(const ingot_buffer_t *value, const ingot_artifact_info_t *info, enum part which,
                           const char **text)
{
    size_t size = 0;
    const uint8_t *bytes = find_part(value, info, which, &size);
    *text = bytes != NULL ? (const char *)bytes : "";
    return bytes == NULL || (size != 0 && memchr(bytes, '\0', size) == bytes + size - 1);
}

/* True if a writer may have made these places. It cuts out no small texts, so few loads can be asked for. */
static bool are_places_sound(const ingot_kept_request_t *request)
{
    uint64_t size = 0;
    for (size_t at = 0; at < request->texts_size; at += PLACE_SIZE) {
        const uint64_t each = le_get_u64(request->texts + at + AT_SIZE);
        if (each < LEAST_SHARED_SIZE || each > MAX_REQUEST_BYTES - size)
            return false;
        size += each;
    }
    return true;
}

ingot_status_t ingot_request_open(ingot_kept_request_t *request, size_t id_size, const uint8_t *id,
                                  ingot_buffer_t *blob)
{
    struct id_fields fields;
    ingot_artifact_info_t info = INGOT_ARTIFACT_INFO_INIT;
    ingot_buffer_t value = INGOT_BUFFER_INIT;
    if (!read_id(&fields, id_size, id))
        return fail_corrupt("its id is not that of a request");
    ingot_status_t status = ingot_artifact_unpack(id_size, id, blob, &value);
    if (status == INGOT_SUCCESS)
        status = ingot_artifact_get_info(&value, &info);
    if (status == INGOT_SUCCESS) {
        *request = (ingot_kept_request_t){.name = info.label,
                                          .build_time_ms = info.make_time_ms,
                                          .recorded_at_unix_ms = info.made_at_unix_ms,
                                          .value = value};
        memcpy(request->digest, fields.digest, sizeof(fields.digest));
        memcpy(request->backend, fields.backend, sizeof(fields.backend));
        request->packed = find_part(&value, &info, PART_REQUEST, &request->packed_size);
        request->texts = find_part(&value, &info, PART_TEXTS, &request->texts_size);
        if (request->packed == NULL || request->texts_size % PLACE_SIZE != 0 ||
            !read_text_part(&value, &info, PART_GROUP, &request->group) ||
            !read_text_part(&value, &info, PART_NAMESPACE, &request->name_space) ||
            !read_text_part(&value, &info, PART_DEVICE, &request->device))
            status = fail_corrupt("a part is missing, or is not a text");
        else if (!are_places_sound(request))
            status = fail_corrupt("a text is smaller than any that is kept apart, or too large");
        else if (request->name_space[0] != '\0' && !paths_is_namespace(request->name_space))
            status = fail_corrupt("its namespace is not the name of one");
    }
    if (status != INGOT_SUCCESS)
        memory_release_buffer(&value);
    return status;
}

void ingot_request_close(ingot_kept_request_t *request)
{
    memory_release_buffer(&request->value);
}

bool kept_request_is_in(ingot_storage_t store, const struct kept_request_id *id)
{
    ingot_buffer_t blob = INGOT_BUFFER_INIT;
    ingot_kept_request_t request;
    if (storage_peek(store, id->size, id->bytes, &blob) != INGOT_SUCCESS)
        return false;
    bool is_in = ingot_request_open(&request, id->size, id->bytes, &blob) == INGOT_SUCCESS;
    memory_release_buffer(&blob);
    if (!is_in)
        return false;
    for (size_t at = 0; at < request.texts_size && is_in; at += PLACE_SIZE) {
        struct kept_request_id text_id;
        is_in = make_text_id(&text_id, request.texts + at + AT_DIGEST) == INGOT_SUCCESS &&
                storage_peek(store, text_id.size, text_id.bytes, &blob) == INGOT_SUCCESS;
        memory_release_buffer(&blob);
    }
    ingot_request_close(&request);
    return is_in;
}

/* Copies a text that is an entry of its own. */
static ingot_status_t copy_text(ingot_storage_t texts, const uint8_t *place, uint8_t *to)
{
    struct kept_request_id id;
    ingot_buffer_t blob = INGOT_BUFFER_INIT;
    ingot_buffer_t value = INGOT_BUFFER_INIT;
    ingot_buffer_t text = INGOT_BUFFER_INIT;
    ingot_status_t status = make_text_id(&id, place + AT_DIGEST);
    if (status == INGOT_SUCCESS)
        status = texts != NULL ? ingot_storage_load(texts, id.size, id.bytes, &blob) : INGOT_NOT_FOUND;
    if (status == INGOT_NOT_FOUND)
        return ingot_set_error_detail(status, "a text of the request is missing; record the program again");
    if (status == INGOT_SUCCESS)
        status = ingot_artifact_unpack(id.size, id.bytes, &blob, &value);
    if (status == INGOT_SUCCESS)
        status = decompress(value.size, value.bytes, &text);
    if (status == INGOT_SUCCESS && text.size != le_get_u64(place + AT_SIZE))
        status = fail_corrupt("a text has another size");
    if (status == INGOT_SUCCESS)
        memcpy(to, text.bytes, text.size);
    memory_release_buffer(&text);
    memory_release_buffer(&value);
    memory_release_buffer(&blob);
    return status;
}

/* Puts the texts back into the request. */
static ingot_status_t join(const ingot_kept_request_t *request, ingot_storage_t texts, const ingot_buffer_t *rest,
                           ingot_buffer_t *bytes)
{
    uint64_t size = rest->size;
    uint64_t before = 0;
    uint8_t *to = NULL;
    for (size_t at = 0; at < request->texts_size; at += PLACE_SIZE) {
        const uint64_t each = le_get_u64(request->texts + at + AT_SIZE);
        const uint64_t gap = le_get_u64(request->texts + at + AT_BEFORE);
        if (each > MAX_REQUEST_BYTES - size || gap > rest->size - before)
            return fail_corrupt("its texts do not fit");
        size += each;
        before += gap;
    }
    ingot_status_t status = memory_make_buffer(&memory_c_allocator, (size_t)size, bytes, &to);
    const uint8_t *from = rest->bytes;
    for (size_t at = 0; at < request->texts_size && status == INGOT_SUCCESS; at += PLACE_SIZE) {
        const size_t gap = (size_t)le_get_u64(request->texts + at + AT_BEFORE);
        memcpy(to, from, gap);
        status = copy_text(texts, request->texts + at, to + gap);
        to += gap + (size_t)le_get_u64(request->texts + at + AT_SIZE);
        from += gap;
    }
    if (status == INGOT_SUCCESS)
        memcpy(to, from, rest->size - (size_t)before);
    else
        memory_release_buffer(bytes);
    return status;
}

/* Compares the backend that a request names, the first thing that is visited, with the one in its key. */
static void compare_backend(void *user, const char *path, size_t size, const uint8_t *value, bool is_text)
{
    const char **backend = user;
    (void)is_text;
    if (strcmp(path, "backend") == 0 && strlen(*backend) == size && memcmp(value, *backend, size) == 0)
        *backend = NULL;
}

ingot_status_t ingot_request_unpack(const ingot_kept_request_t *request, ingot_storage_t texts, ingot_buffer_t *bytes)
{
    uint8_t digest[INGOT_REQUEST_DIGEST_SIZE];
    ingot_buffer_t rest = INGOT_BUFFER_INIT;
    *bytes = (ingot_buffer_t)INGOT_BUFFER_INIT;
    ingot_status_t status = decompress(request->packed_size, request->packed, &rest);
    if (status == INGOT_SUCCESS && rest.size > MAX_REQUEST_BYTES)
        status = fail_corrupt("it is too large");
    if (status == INGOT_SUCCESS)
        status = join(request, texts, &rest, bytes);
    memory_release_buffer(&rest);
    if (status != INGOT_SUCCESS)
        return status;
    const char *backend = request->backend;
    status = ingot_request_get_digest(bytes->size, bytes->bytes, digest);
    if (status == INGOT_SUCCESS)
        status = ingot_request_visit(bytes->size, bytes->bytes, compare_backend, &backend);
    if (status == INGOT_SUCCESS && (backend != NULL || memcmp(digest, request->digest, sizeof(digest)) != 0))
        status = ingot_set_error_detail(INGOT_BLOB_MISMATCH, "the request is not the one that its id names");
    if (status != INGOT_SUCCESS)
        memory_release_buffer(bytes);
    return status;
}
