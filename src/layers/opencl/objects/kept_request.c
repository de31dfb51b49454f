/*
 * kept_request.c - keeps the compiler's input, to compile it later.
 */
#include "layers/opencl/objects/kept_request.h"

#include <stdlib.h>
#include <string.h>

#include "layers/opencl/objects/compiler.h"

void object_headers_fini(struct object_headers *headers)
{
    for (size_t i = 0; i < headers->count; ++i) {
        free((void *)headers->texts[i].bytes);
        free((void *)headers->texts[i].name);
    }
    free(headers->texts);
    *headers = (struct object_headers){0, NULL};
}

/* Copies a text and its name. The caller frees *copy, even after a failure. */
static bool copy_text(const ingot_source_view_t *text, ingot_source_view_t *copy)
{
    char *bytes = malloc(text->size + 1);
    *copy = *text;
    copy->bytes = bytes;
    copy->name = text->name != NULL ? strdup(text->name) : NULL;
    if (bytes == NULL)
        return false;
    if (text->size > 0)
        memcpy(bytes, text->bytes, text->size);
    return copy->name != NULL || text->name == NULL;
}

static bool copy_headers(const ingot_build_request_t *request, struct object_headers *headers)
{
    headers->texts = calloc(request->header_count + 1, sizeof(*headers->texts));
    bool are_copied = headers->texts != NULL;
    for (size_t i = 0; i < request->header_count && are_copied; ++i) {
        are_copied = copy_text(&request->headers[i], &headers->texts[i]);
        ++headers->count;
    }
    return are_copied;
}

static ingot_status_t copy_request(void *user, const ingot_build_request_t *request)
{
    struct kept_request *kept = user;
    const char *options = compiler_options_of(request);
    kept->options = options != NULL ? strdup(options) : NULL;
    return copy_text(&request->sources[0], &kept->text) && copy_headers(request, &kept->headers) &&
                   (options == NULL || kept->options != NULL)
               ? INGOT_SUCCESS
               : ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for the texts of a compiled object");
}

ingot_status_t kept_request_take(struct kept_request *kept, ingot_program_desc_t desc)
{
    const ingot_status_t status = ingot_program_desc_visit_request(desc, copy_request, kept);
    if (status != INGOT_SUCCESS)
        kept_request_fini(kept);
    return status;
}

struct own_text {
    struct kept_request *kept;
    size_t size;
    const char *text;
};

static ingot_status_t copy_request_of_files(void *user, const ingot_build_request_t *request)
{
    const struct own_text *own = user;
    const ingot_source_view_t *source = &request->sources[0];
    const bool is_own =
        source->size == own->size && (own->size == 0 || memcmp(source->bytes, own->text, own->size) == 0);
    return is_own ? INGOT_SUCCESS : copy_request(own->kept, request);
}

ingot_status_t kept_request_take_of_files(struct kept_request *kept, ingot_program_desc_t desc, size_t own_size,
                                          const char *own_text)
{
    struct own_text own = {kept, own_size, own_text};
    const ingot_status_t status = ingot_program_desc_visit_request(desc, copy_request_of_files, &own);
    if (status != INGOT_SUCCESS)
        kept_request_fini(kept);
    return status;
}

static ingot_status_t accept_request(void *user, const ingot_build_request_t *request)
{
    (void)user;
    (void)request;
    return INGOT_SUCCESS;
}

ingot_status_t kept_request_check(ingot_program_desc_t desc)
{
    return ingot_program_desc_visit_request(desc, accept_request, NULL);
}

void kept_request_fini(struct kept_request *kept)
{
    object_headers_fini(&kept->headers);
    free((void *)kept->text.bytes);
    free((void *)kept->text.name);
    free(kept->options);
    *kept = (struct kept_request){.options = NULL};
}

void kept_request_move(struct kept_request *to, struct kept_request *from)
{
    *to = *from;
    *from = (struct kept_request){.options = NULL};
}

cl_program kept_request_compile(const struct kept_request *kept, cl_context context)
{
    cl_int error = CL_SUCCESS;
    cl_program native = compiler_create(context, &kept->text, &error);
    if (native != NULL)
        error = compiler_run(context, native, kept->options, kept->headers.count, kept->headers.texts);
    if (error == CL_SUCCESS)
        return native;
    if (native != NULL)
        (void)layer_target.clReleaseProgram(native);
    (void)ingot_set_error(INGOT_BACKEND_ERROR, error, "a loaded object does not compile: %d", (int)error);
    return NULL;
}

struct rebuild {
    cl_context context;
    bool has_options;
    cl_program native;
};

static ingot_status_t build_request(void *user, const ingot_build_request_t *request)
{
    struct rebuild *rebuild = user;
    const bool has_options = rebuild->has_options || *request->compile_options != '\0';
    rebuild->native = compiler_build(rebuild->context, request, has_options ? request->compile_options : NULL);
    return INGOT_SUCCESS;
}

cl_program kept_request_build(const struct kept_request *kept, const_ingot_program_desc_t desc, cl_context context,
                              bool has_options)
{
    struct rebuild rebuild = {context, has_options, NULL};
    const ingot_build_request_t request = {.sources = &kept->text,
                                           .source_count = 1,
                                           .compile_options = kept->options != NULL ? kept->options : "",
                                           .link_options = ""};
    if (kept->text.bytes != NULL)
        (void)build_request(&rebuild, &request);
    else
        (void)ingot_program_desc_visit_request(desc, build_request, &rebuild);
    return rebuild.native;
}
