/*
 * request.c - writes, reads and visits build requests; see request.h and doc/request-format.md.
 *
 * Makes requests from descriptors, too: the application's, with its texts, and the one with digests that an id
 * contains.
 */
#include "core/descriptor/request.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/base/error.h"
#include "core/blob/cache_blob.h"
#include "core/descriptor/program_desc.h"
#include "core/hermetic/option_words.h"
#include "core/hermetic/text_digests.h"

#define REQUEST_MAGIC "INGOTREQ"

enum {
    REQUEST_MAGIC_SIZE = 8,
    REQUEST_VERSION = 1,
    REQUEST_NAMES_MATTER = 1,
    MAX_COUNT = UINT16_MAX, /* of sources, headers and name expressions */
    PATH_CAPACITY = 80
};

/* ---- writing ---- */

/* Writes sources, or headers, which have no kind. */
static void put_views(struct bytes_writer *out, enum request_form form, const struct request *request, bool are_sources)
{
    const size_t count = are_sources ? request->build.source_count : request->build.header_count;
    const ingot_source_view_t *views = are_sources ? request->build.sources : request->build.headers;
    const bool has_names = !are_sources || form == REQUEST_OF_TEXTS || request->names_matter;
    const bool makes_digests = request->form == REQUEST_OF_TEXTS;
    uint8_t digest[DIGEST_SIZE];
    bytes_put_u32(out, (uint32_t)count);
    for (size_t i = 0; i < count; ++i) {
        if (are_sources)
            bytes_put_u32(out, (uint32_t)views[i].kind);
        bytes_put_framed_text(out, has_names ? views[i].name : "");
        if (form == REQUEST_OF_TEXTS) {
            bytes_put_framed(out, views[i].size, views[i].bytes);
            continue;
        }
        if (makes_digests)
            digest_of(views[i].size, views[i].bytes, digest);
        bytes_put(out, DIGEST_SIZE, makes_digests ? digest : views[i].bytes);
    }
}

void request_write(struct bytes_writer *out, enum request_form form, const struct request *request)
{
    const ingot_build_request_t *build = &request->build;
    bytes_put_u32(out, (uint32_t)form);
    bytes_put_u32(out, request->names_matter ? REQUEST_NAMES_MATTER : 0);
    put_views(out, form, request, true);
    put_views(out, form, request, false);
    bytes_put_framed_text(out, build->compile_options);
    bytes_put_framed_text(out, build->link_options);
    bytes_put_u32(out, 0); /* reserved */
    bytes_put_u32(out, (uint32_t)build->spec_constant_count);
    for (size_t i = 0; i < build->spec_constant_count; ++i) {
        bytes_put_u32(out, build->spec_constants[i].id);
        bytes_put_framed(out, build->spec_constants[i].size, build->spec_constants[i].value);
    }
    bytes_put_u32(out, (uint32_t)build->name_expression_count);
    for (size_t i = 0; i < build->name_expression_count; ++i)
        bytes_put_framed_text(out, build->name_expressions[i]);
    bytes_put_framed(out, request->directory != NULL ? DIGEST_SIZE : 0, request->directory);
    if (form == REQUEST_OF_TEXTS)
        bytes_put_framed(out, request->files_size, request->files);
}

bool request_digest(const struct request *request, const ingot_allocator_t *allocator, uint8_t digest[DIGEST_SIZE])
{
    struct bytes_writer out;
    bytes_writer_init(&out, allocator);
    request_write(&out, REQUEST_OF_DIGESTS, request);
    return digest_of_written(&out, digest);
}

void request_write_head(struct bytes_writer *out, const char *backend)
{
    bytes_put(out, REQUEST_MAGIC_SIZE, REQUEST_MAGIC);
    bytes_put_u32(out, REQUEST_VERSION);
    bytes_put_framed_text(out, backend);
}

/* ---- reading ---- */

struct reading {
    struct bytes_reader in;
    struct arena *arena;
    enum request_form form;
    const char *problem; /* what is wrong with the bytes, or NULL */
};

static bool is_good(const struct reading *reading)
{
    return !reading->in.failed && reading->problem == NULL && !reading->arena->failed;
}

static void refuse(struct reading *reading, bool is_wrong, const char *problem)
{
    if (is_wrong && reading->problem == NULL && !reading->in.failed)
        reading->problem = problem;
}

static const char *get_string(struct reading *reading)
{
    size_t size = 0;
    const uint8_t *bytes = bytes_get_framed(&reading->in, &size);
    if (bytes == NULL)
        return "";
    refuse(reading, size != 0 && memchr(bytes, '\0', size) != NULL, "a name or an option contains NUL");
    const char *copy = arena_copy(reading->arena, size, bytes);
    return copy != NULL ? copy : "";
}

/* Reads a count. Each of the things takes at least `least` bytes, so a count that the bytes cannot have is refused
 * before anything is allocated for it. */
static size_t get_count(struct reading *reading, size_t most, size_t least)
{
    const size_t count = bytes_get_u32(&reading->in);
    if (reading->in.failed)
        return 0;
    refuse(reading, count > most, "it has too many parts");
    if (count > bytes_left(&reading->in) / least)
        reading->in.failed = true;
    return is_good(reading) ? count : 0;
}

enum { LEAST_HEADER = 8 + 8, LEAST_SOURCE = 4 + 8 + 8, LEAST_CONSTANT = 4 + 8 };

/* Reads sources, or headers, which have no kind. Returns their number. */
static size_t get_views(struct reading *reading, const ingot_source_view_t **views, bool are_sources, bool has_names)
{
    const size_t count = get_count(reading, MAX_COUNT, are_sources ? LEAST_SOURCE : LEAST_HEADER);
    refuse(reading, are_sources && count == 0, "it has no source");
    ingot_source_view_t *made = arena_take(reading->arena, count * sizeof(*made));
    for (size_t i = 0; made != NULL && i < count && is_good(reading); ++i) {
        made[i].kind = are_sources ? (ingot_source_kind_t)bytes_get_u32(&reading->in) : INGOT_SOURCE_HEADER;
        made[i].name = get_string(reading);
        refuse(reading, made[i].name[0] == '\0' && !are_sources, "a header has no name");
        refuse(reading, made[i].name[0] != '\0' && !has_names, "a source has a name that does not count");
        made[i].size = DIGEST_SIZE;
        made[i].bytes = reading->form == REQUEST_OF_TEXTS ? bytes_get_framed(&reading->in, &made[i].size)
                                                          : bytes_get(&reading->in, DIGEST_SIZE);
    }
    *views = made;
    return count;
}

ingot_status_t request_read(struct request *request, enum request_form form, struct arena *arena, size_t size,
                            const uint8_t *bytes)
{
    struct reading reading = {.arena = arena, .form = form};
    *request = (struct request){.form = form, .build = {.struct_size = sizeof(request->build)}};
    bytes_reader_init(&reading.in, size, bytes);
    ingot_build_request_t *build = &request->build;
    size_t directory_size = 0;
    const uint32_t found_form = bytes_get_u32(&reading.in);
    const uint32_t flags = bytes_get_u32(&reading.in);
    refuse(&reading, found_form != (uint32_t)form, "it has texts instead of digests, or the reverse");
    refuse(&reading, (flags & ~(uint32_t)REQUEST_NAMES_MATTER) != 0, "it has unknown flags");
    request->names_matter = (flags & REQUEST_NAMES_MATTER) != 0;
    const bool has_names = request->names_matter || form == REQUEST_OF_TEXTS;
    build->source_count = get_views(&reading, &build->sources, true, has_names);
    build->header_count = get_views(&reading, &build->headers, false, true);
    build->compile_options = get_string(&reading);
    build->link_options = get_string(&reading);
    refuse(&reading, bytes_get_u32(&reading.in) != 0, "its reserved number is not 0");
    build->spec_constant_count = get_count(&reading, UINT32_MAX, LEAST_CONSTANT);
    ingot_spec_constant_t *constants = arena_take(arena, build->spec_constant_count * sizeof(*constants));
    for (size_t i = 0; constants != NULL && i < build->spec_constant_count && is_good(&reading); ++i) {
        size_t value_size = 0;
        constants[i].id = bytes_get_u32(&reading.in);
        constants[i].value = bytes_get_framed(&reading.in, &value_size);
        refuse(&reading, value_size != 1 && value_size != 2 && value_size != 4 && value_size != 8,
               "a constant has a wrong size");
        refuse(&reading, i != 0 && constants[i].id <= constants[i - 1].id, "its constants are not in order");
        constants[i].size = (uint32_t)value_size;
    }
    build->spec_constants = constants;
    build->name_expression_count = get_count(&reading, MAX_COUNT, sizeof(uint64_t));
    const char **names = arena_take(arena, build->name_expression_count * sizeof(*names));
    for (size_t i = 0; names != NULL && i < build->name_expression_count && is_good(&reading); ++i) {
        names[i] = get_string(&reading);
        refuse(&reading, names[i][0] == '\0', "a name expression is empty");
        refuse(&reading, i != 0 && strcmp(names[i], names[i - 1]) <= 0, "its name expressions are not in order");
    }
    build->name_expressions = names;
    request->directory = bytes_get_framed(&reading.in, &directory_size);
    if (directory_size == 0)
        request->directory = NULL;
    refuse(&reading, directory_size != 0 && directory_size != DIGEST_SIZE, "its directory is not a digest");
    if (form == REQUEST_OF_TEXTS)
        request->files = bytes_get_framed(&reading.in, &request->files_size);
    refuse(&reading, !blob_files_are_whole(request->files_size, request->files), "its list of files is malformed");
    refuse(&reading, bytes_left(&reading.in) != 0, "it has bytes after its last field");
    if (arena->failed)
        return error_out_of_memory();
    if (reading.problem != NULL)
        return error_set(INGOT_BLOB_CORRUPT, "the request is malformed: %s", reading.problem);
    return reading.in.failed ? error_set(INGOT_BLOB_TRUNCATED, "a request of %zu bytes ends too early", size)
                             : INGOT_SUCCESS;
}

ingot_status_t request_read_whole(struct request *request, const char **backend, struct arena *arena, size_t size,
                                  const uint8_t *bytes)
{
    struct reading head = {.arena = arena};
    bytes_reader_init(&head.in, size, bytes);
    const uint8_t *magic = bytes_get(&head.in, REQUEST_MAGIC_SIZE);
    const uint32_t version = bytes_get_u32(&head.in);
    if (magic != NULL && memcmp(magic, REQUEST_MAGIC, REQUEST_MAGIC_SIZE) != 0)
        return error_set(INGOT_BLOB_CORRUPT, "these bytes are not a request");
    if (!head.in.failed && version != REQUEST_VERSION)
        return error_set(INGOT_BLOB_VERSION, "a request has the unknown format version %" PRIu32, version);
    *backend = get_string(&head);
    if (arena->failed)
        return error_out_of_memory();
    if (head.in.failed)
        return error_set(INGOT_BLOB_TRUNCATED, "a request of %zu bytes ends too early", size);
    if (head.problem != NULL || (*backend)[0] == '\0')
        return error_set(INGOT_BLOB_CORRUPT, "the request is malformed: its backend has no name");
    return request_read(request, REQUEST_OF_TEXTS, arena, size - head.in.offset, bytes + head.in.offset);
}

/* ---- visiting ---- */

struct visit {
    ingot_cache_blob_id_visit_t visit;
    void *user;
};

/* Visits a field with the path that printf would print. */
__attribute__((format(printf, 5, 6))) static void visit_field(const struct visit *visit, size_t size, const void *value,
                                                              bool is_text, const char *format, ...)
{
    char path[PATH_CAPACITY];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(path, sizeof(path), format, arguments);
    va_end(arguments);
    visit->visit(visit->user, path, size, value, is_text);
}

static void visit_views(const struct visit *visit, const struct request *request, bool are_sources)
{
    static const char *const kinds[] = {
        [INGOT_SOURCE_OPENCL_C] = "opencl_c", [INGOT_SOURCE_SPIRV] = "spirv",     [INGOT_SOURCE_CUDA_CPP] = "cuda_cpp",
        [INGOT_SOURCE_PTX] = "ptx",           [INGOT_SOURCE_HIP_CPP] = "hip_cpp", [INGOT_SOURCE_HIP_CODE] = "hip_code"};
    const size_t count = are_sources ? request->build.source_count : request->build.header_count;
    const ingot_source_view_t *views = are_sources ? request->build.sources : request->build.headers;
    const bool is_text = request->form == REQUEST_OF_TEXTS;
    const char *start = are_sources ? "source" : "header";
    for (size_t i = 0; i < count; ++i) {
        if (are_sources) {
            char of_backend[9]; /* a kind that a custom backend defines */
            const uint32_t value = (uint32_t)views[i].kind;
            const bool is_known = value < sizeof(kinds) / sizeof(kinds[0]) && kinds[value] != NULL;
            (void)snprintf(of_backend, sizeof(of_backend), "%08" PRIx32, value);
            const char *kind = is_known ? kinds[value] : of_backend;
            visit_field(visit, strlen(kind), kind, true, "source[%zu].kind", i);
        }
        if (views[i].name[0] != '\0')
            visit_field(visit, strlen(views[i].name), views[i].name, true, "%s[%zu].name", start, i);
        visit_field(visit, views[i].size, views[i].bytes, is_text, "%s[%zu].%s", start, i,
                    is_text ? "text" : "blake2b");
    }
}

void request_visit(const struct request *request, ingot_cache_blob_id_visit_t to, void *user)
{
    const ingot_build_request_t *build = &request->build;
    const struct visit visit = {to, user};
    visit_views(&visit, request, true);
    visit_views(&visit, request, false);
    visit_field(&visit, strlen(build->compile_options), build->compile_options, true, "compile_options");
    visit_field(&visit, strlen(build->link_options), build->link_options, true, "link_options");
    for (size_t i = 0; i < build->spec_constant_count; ++i) {
        const ingot_spec_constant_t *constant = &build->spec_constants[i];
        visit_field(&visit, constant->size, constant->value, false, "spec_constant[%" PRIu32 "]", constant->id);
    }
    for (size_t i = 0; i < build->name_expression_count; ++i)
        visit_field(&visit, strlen(build->name_expressions[i]), build->name_expressions[i], true,
                    "name_expression[%zu]", i);
    struct bytes_reader files;
    size_t name_size = 0;
    const char *name = NULL;
    const uint8_t *digest = NULL;
    bytes_reader_init(&files, request->files_size, request->files);
    for (size_t i = 0; (digest = blob_next_file(&files, &name_size, &name)) != NULL; ++i) {
        visit_field(&visit, name_size, name, true, "file[%zu].name", i);
        visit_field(&visit, DIGEST_SIZE, digest, false, "file[%zu].blake2b", i);
    }
    if (request->directory != NULL)
        to(user, "directory.blake2b", DIGEST_SIZE, request->directory, false);
}

ingot_status_t ingot_request_visit(size_t size, const uint8_t *request, ingot_cache_blob_id_visit_t visit, void *user)
{
    struct arena arena;
    struct request read;
    const char *backend = NULL;
    arena_init(&arena, &memory_c_allocator);
    const ingot_status_t status = request_read_whole(&read, &backend, &arena, size, request);
    if (status == INGOT_SUCCESS) {
        visit(user, "backend", strlen(backend), (const uint8_t *)backend, true);
        request_visit(&read, visit, user);
    }
    arena_fini(&arena);
    return status;
}

ingot_status_t ingot_request_get_digest(size_t size, const uint8_t *request, uint8_t *digest)
{
    struct arena arena;
    struct request read;
    const char *backend = NULL;
    arena_init(&arena, &memory_c_allocator);
    ingot_status_t status = request_read_whole(&read, &backend, &arena, size, request);
    if (status == INGOT_SUCCESS && !request_digest(&read, arena.allocator, digest))
        status = error_out_of_memory();
    arena_fini(&arena);
    return status;
}

/* ---- requests of descriptors (program_desc.h) ---- */

static const char *join_options(struct arena *arena, const char *first, const char *second)
{
    return *first == '\0' ? second : *second == '\0' ? first : arena_print(arena, "%s %s", first, second);
}

ingot_status_t desc_request_init(ingot_build_request_t *request, const struct ingot_program_desc *desc,
                                 struct arena *arena)
{
    const size_t count = desc->source_count + desc->header_count;
    ingot_source_view_t *views = arena_take(arena, count * sizeof(*views));
    const char *more_compile_options = desc->is_final ? "" : desc->context->compile_options;
    const char *more_link_options = desc->is_final ? "" : desc->context->link_options;

    *request =
        (ingot_build_request_t){.struct_size = sizeof(*request),
                                .sources = views,
                                .source_count = desc->source_count,
                                .headers = views != NULL ? views + desc->source_count : NULL,
                                .header_count = desc->header_count,
                                .compile_options = join_options(arena, desc->compile_options, more_compile_options),
                                .link_options = join_options(arena, desc->link_options, more_link_options),
                                .spec_constants = program_desc_spec_constants(desc),
                                .spec_constant_count = desc->spec_constant_count,
                                .name_expressions = program_desc_name_expressions(desc),
                                .name_expression_count = desc->name_expression_count};
    if (arena->failed)
        return error_out_of_memory();
    for (size_t i = 0; i < count; ++i) {
        const struct ingot_source *source = desc->sources[i];
        views[i] = (ingot_source_view_t){source->kind, source->size, source->bytes, source->name};
    }
    return INGOT_SUCCESS;
}

ingot_status_t desc_request_keep_options(ingot_build_request_t *request, const struct ingot_program_desc *desc,
                                         struct arena *arena)
{
    struct bytes_writer kept;
    if (!desc->has_directories)
        return INGOT_SUCCESS;
    bytes_writer_init(&kept, arena->allocator);
    options_keep(&kept, &desc->context->text_rules.of_backend, arena, request->compile_options);
    request->compile_options = kept.failed ? NULL : arena_copy(arena, kept.size, kept.bytes);
    bytes_writer_fini(&kept);
    return request->compile_options != NULL ? INGOT_SUCCESS : error_out_of_memory();
}

ingot_status_t desc_request_write(struct bytes_writer *out, const struct ingot_program_desc *desc)
{
    struct request request = {.form = REQUEST_OF_DIGESTS};
    struct arena arena;
    arena_init(&arena, &desc->context->allocator);
    ingot_status_t status = desc_request_init(&request.build, desc, &arena);
    if (status == INGOT_SUCCESS)
        status = desc_request_keep_options(&request.build, desc, &arena);
    if (status == INGOT_SUCCESS) {
        /* the texts are replaced by their digests, in the views of desc_request_init, which are in the arena */
        ingot_source_view_t *views = (ingot_source_view_t *)request.build.sources;
        struct text_digests digests;
        (void)text_digests_read(&digests, desc->digests_size, program_desc_digests(desc), desc->source_count);
        for (size_t i = 0; i < desc->source_count + desc->header_count; ++i) { /* the headers' views follow */
            const uint8_t *digest = i < desc->source_count ? text_digests_next(&digests) : NULL;
            uint8_t *of_source = digest == NULL ? arena_take(&arena, DIGEST_SIZE) : NULL;
            if (of_source != NULL)
                source_get_digest(desc->sources[i], of_source);
            views[i].size = DIGEST_SIZE;
            views[i].bytes = digest != NULL ? digest : of_source;
        }
        request.names_matter = digests.names_matter;
        request.directory = digests.directory;
        if (!arena.failed)
            request_write(out, REQUEST_OF_DIGESTS, &request);
        status = arena.failed || out->failed ? error_out_of_memory() : INGOT_SUCCESS;
    }
    arena_fini(&arena);
    return status;
}
