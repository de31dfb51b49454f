/*
 * desc_from_request.c - serializes the request that a builder needs, and makes descriptors from such requests.
 *
 * A request may come from a stranger, who must not make the compiler or driver of this machine read or write a file. So
 * the texts pass the checks of those that Ingot makes itself (hermetic.h), options are known to name no file, and names
 * of headers, which drivers write to files, stay in their directory.
 */
#include <string.h>

#include "core/base/error.h"
#include "core/blob/cache_blob.h"
#include "core/descriptor/desc_texts.h"
#include "core/descriptor/request.h"
#include "core/hermetic/option_words.h"
#include "core/hermetic/text_digests.h"

enum { MOST_HEADERS = 4096 }; /* their names are compared in pairs */

/* ---- checks ---- */

/* Options of links, and of programs without text, that name no file, besides those of the backend's rules: of OpenCL's
 * and Level Zero's compilers, and of nvJitLink. One that ends in '-' stands for all that begin with it. */
static const char *const known_options[] = {"-cl-", "-ze-", "-vc-codegen", "-lto", "-O0", "-O1", "-O2", "-O3"};

static bool is_known(const struct option *option)
{
    if (strspn(option->start, "0123456789") >= option->size)
        return true; /* the value of the option before it */
    for (size_t i = 0; i < sizeof(known_options) / sizeof(known_options[0]); ++i) {
        const size_t size = strlen(known_options[i]);
        if (option->size >= size && memcmp(option->start, known_options[i], size) == 0 &&
            (option->size == size || known_options[i][size - 1] == '-'))
            return true;
    }
    return false;
}

/* Refuses options that are not known to name no file. */
static ingot_status_t check_options(const struct ingot_context *context, const char *options, struct arena *arena)
{
    static const char odd_characters[] = "/@\"'\\";
    struct option_reader reader = {&context->text_rules.of_backend, arena, options};
    struct option option;
    while (option_next(&reader, &option)) {
        bool is_odd = option.kind == OPTION_DIRECTORY || (option.kind == OPTION_UNKNOWN && !is_known(&option));
        for (size_t i = 0; i < option.size; ++i)
            is_odd = is_odd || memchr(odd_characters, option.start[i], sizeof(odd_characters)) != NULL;
        if (is_odd)
            return error_set(INGOT_NOT_CACHEABLE,
                             "the option %.*s of a link, or of a program without text, may name a file",
                             option.size < 100 ? (int)option.size : 100, option.start);
    }
    return arena->failed ? error_out_of_memory() : INGOT_SUCCESS;
}

/* True if a file of this name is in the directory in which a driver writes the headers. */
static bool is_safe_name(const char *name)
{
    if (*name == '/')
        return false;
    for (const char *part = name; part != NULL; part = strchr(part, '/')) {
        part += *part == '/';
        if (strncmp(part, "..", 2) == 0 && (part[2] == '/' || part[2] == '\0'))
            return false;
    }
    for (; *name != '\0'; ++name) {
        if ((unsigned char)*name < ' ' || *name == 0x7f || *name == '\\' || *name == '"')
            return false;
    }
    return true;
}

/* Returns why a descriptor must not be made from a request, or NULL. */
static const char *find_danger(const struct request *request)
{
    const ingot_build_request_t *build = &request->build;
    if (request->directory != NULL)
        return "the program depends on the current directory (-g)";
    for (size_t i = 0; i < build->header_count; ++i) {
        if (!is_safe_name(build->headers[i].name))
            return "the name of a header may lead out of its directory";
    }
    if (build->header_count > MOST_HEADERS)
        return "it has more than 4096 headers";
    for (size_t i = 0; i < build->name_expression_count; ++i) {
        for (const char *at = build->name_expressions[i]; *at != '\0'; ++at) {
            if ((unsigned char)*at < ' ' || *at == '#' || *at == '\\')
                return "a name expression has a character that no name has";
        }
    }
    return NULL;
}

/* ---- making a descriptor ---- */

static ingot_status_t read_safe_request(struct request *request, ingot_context_t context, struct arena *arena,
                                        size_t size, const uint8_t *bytes)
{
    const char *backend = NULL;
    ingot_status_t status = request_read_whole(request, &backend, arena, size, bytes);
    if (status != INGOT_SUCCESS)
        return status;
    if (strcmp(backend, context->ops.name) != 0)
        return error_set(INGOT_INVALID_ARGUMENTS,
                         "the request is for the backend %s, but the context has the backend %s", backend,
                         context->ops.name);
    const char *danger = find_danger(request);
    if (danger != NULL)
        return error_set(INGOT_NOT_CACHEABLE, "%s", danger);
    /* the options that are not resolved with texts */
    status = check_options(context, request->build.link_options, arena);
    bool has_text = false;
    for (size_t i = 0; i < request->build.source_count; ++i)
        has_text = has_text || hermetic_kind_has_includes(request->build.sources[i].kind);
    if (status == INGOT_SUCCESS && !has_text)
        status = check_options(context, request->build.compile_options, arena);
    return status;
}

ingot_status_t ingot_program_desc_create_from_request(ingot_program_desc_t *desc, ingot_context_t context, size_t size,
                                                      const uint8_t *request, size_t device_count,
                                                      const uint32_t *device_indices, const char *group)
{
    struct arena arena;
    struct request read;
    ingot_source_t *sources = NULL; /* then the headers */
    size_t count = 0;
    arena_init(&arena, &context->allocator);
    ingot_status_t status = read_safe_request(&read, context, &arena, size, request);
    if (status == INGOT_SUCCESS) {
        count = read.build.source_count + read.build.header_count;
        sources = arena_take(&arena, count * sizeof(*sources));
        status = sources != NULL ? INGOT_SUCCESS : error_out_of_memory();
    }
    for (size_t i = 0; status == INGOT_SUCCESS && i < count; ++i) {
        const ingot_source_view_t *view =
            i < read.build.source_count ? &read.build.sources[i] : &read.build.headers[i - read.build.source_count];
        ingot_source_info_t info = INGOT_SOURCE_INFO_INIT;
        info.kind = view->kind;
        info.bytes = view->bytes;
        info.size = view->size;
        info.name = view->name;
        info.allocator = &context->allocator;
        status = ingot_source_create(&sources[i], &info);
    }
    if (status == INGOT_SUCCESS) {
        const ingot_program_info_t info = {.struct_size = sizeof(info),
                                           .sources = sources,
                                           .source_count = read.build.source_count,
                                           .headers = sources + read.build.source_count,
                                           .header_count = read.build.header_count,
                                           .compile_options = read.build.compile_options,
                                           .link_options = read.build.link_options,
                                           .spec_constants = read.build.spec_constants,
                                           .spec_constant_count = read.build.spec_constant_count,
                                           .device_indices = device_count != 0 ? device_indices : NULL,
                                           .device_count = device_count,
                                           .group = group,
                                           .name_expressions = read.build.name_expressions,
                                           .name_expression_count = read.build.name_expression_count};
        status = program_desc_create(desc, context, &info, &read);
    }
    for (size_t i = 0; sources != NULL && i < count; ++i)
        ingot_source_release(sources[i]);
    arena_fini(&arena);
    return status;
}

/* ---- making a request ---- */

static ingot_status_t write_whole_request(struct bytes_writer *out, const struct ingot_program_desc *desc,
                                          const ingot_build_request_t *build, struct arena *arena)
{
    struct text_digests digests;
    struct request request = {
        .form = REQUEST_OF_TEXTS, .build = *build, .files_size = desc->files_size, .files = desc->files};
    (void)text_digests_read(&digests, desc->digests_size, program_desc_digests(desc), desc->source_count);
    request.names_matter = digests.names_matter;
    request.directory = digests.directory;
    /* with a name that begins with "/", a request would take the directories of this machine along */
    struct bytes_reader files;
    size_t size = 0;
    const char *name = NULL;
    bool is_absolute = false;
    for (size_t i = 0; i < request.build.source_count; ++i)
        is_absolute = is_absolute || request.build.sources[i].name[0] == '/';
    bytes_reader_init(&files, request.files_size, request.files);
    while (blob_next_file(&files, &size, &name) != NULL)
        is_absolute = is_absolute || (size != 0 && name[0] == '/');
    if (request.names_matter && request.directory == NULL && is_absolute)
        return error_set(INGOT_NOT_CACHEABLE, "the program depends on the directories of its files (__FILE__)");
    if (!request.names_matter) { /* the names of sources lose their directories */
        ingot_source_view_t *views = arena_take(arena, build->source_count * sizeof(*views));
        if (views == NULL)
            return error_out_of_memory();
        for (size_t i = 0; i < build->source_count; ++i) {
            const char *slash = strrchr(build->sources[i].name, '/');
            views[i] = build->sources[i];
            if (slash != NULL)
                views[i].name = slash + 1;
        }
        request.build.sources = views;
    }
    request_write_head(out, desc->context->ops.name);
    request_write(out, REQUEST_OF_TEXTS, &request);
    return out->failed ? error_out_of_memory() : INGOT_SUCCESS;
}

/* Makes a descriptor from the request, and checks that its own request has the same digest. */
static ingot_status_t try_request(const struct bytes_writer *whole, const struct ingot_program_desc *desc)
{
    struct bytes_writer wanted;
    struct bytes_writer found;
    ingot_program_desc_t made = NULL;
    bytes_writer_init(&wanted, &desc->context->allocator);
    bytes_writer_init(&found, &desc->context->allocator);
    ingot_status_t status = ingot_program_desc_create_from_request(&made, desc->context, whole->size, whole->bytes,
                                                                   desc->device_count, desc->device_indices, NULL);
    if (status == INGOT_SUCCESS)
        status = desc_request_write(&wanted, desc);
    if (status == INGOT_SUCCESS)
        status = desc_request_write(&found, made);
    if (status == INGOT_SUCCESS && (wanted.size != found.size || memcmp(wanted.bytes, found.bytes, wanted.size) != 0))
        status = error_set(INGOT_NOT_CACHEABLE, "its texts alone do not make the same program");
    ingot_program_desc_release(made);
    bytes_writer_fini(&wanted);
    bytes_writer_fini(&found);
    return status;
}

ingot_status_t ingot_program_desc_get_request(const_ingot_program_desc_t desc, ingot_buffer_t *request)
{
    struct hermetic_request hermetic = {.is_there = false};
    struct arena arena;
    struct bytes_writer out;
    ingot_build_request_t native;
    if (desc->not_cacheable != NULL)
        return error_set(INGOT_NOT_CACHEABLE, "%s", desc->not_cacheable);
    arena_init(&arena, &desc->context->allocator);
    hermetic_init(&hermetic.hermetic, &desc->context->allocator);
    bytes_writer_init(&out, &memory_c_allocator);
    ingot_status_t status = desc_request_init(&native, desc, &arena);
    if (status == INGOT_SUCCESS)
        status = hermetic_request_make(&hermetic, desc, &native, &arena);
    if (status == INGOT_SUCCESS && hermetic.refusal != NULL)
        status = error_set(INGOT_NOT_CACHEABLE, "%s", hermetic.refusal);
    if (status == INGOT_SUCCESS)
        status = write_whole_request(&out, desc, hermetic.is_there ? &hermetic.request : &native, &arena);
    if (status == INGOT_SUCCESS)
        status = try_request(&out, desc);
    if (status == INGOT_SUCCESS)
        bytes_take_buffer(&out, request);
    else
        bytes_writer_fini(&out);
    hermetic_fini(&hermetic.hermetic);
    arena_fini(&arena);
    return status;
}
