/*
 * kept_request.c - makes programs again from what their ids cover; see kept_request.h.
 */
#include "layers/opencl/compiler/kept_request.h"

#include <ingot/private/descriptor.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "layers/opencl/extension_lookup.h"

/* The application's own text of a program, and where to keep the compiler's. */
struct taking {
    struct kept_request *kept;
    size_t own_size;
    const char *own_text;
};

static ingot_status_t copy_request(void *user, const ingot_build_request_t *request)
{
    const struct taking *taking = user;
    const ingot_source_view_t *source = &request->sources[0];
    taking->kept->options = strdup(request->compile_options);
    if (taking->kept->options != NULL && source->size == taking->own_size &&
        (source->size == 0 || memcmp(source->bytes, taking->own_text, source->size) == 0))
        return INGOT_SUCCESS;
    char *bytes = malloc(source->size + 1);
    taking->kept->text = *source;
    taking->kept->text.name = NULL;
    taking->kept->text.bytes = bytes;
    if (bytes == NULL || taking->kept->options == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for the text of a program");
    if (source->size > 0)
        memcpy(bytes, source->bytes, source->size);
    return INGOT_SUCCESS;
}

ingot_status_t kept_request_take(struct kept_request *kept, ingot_program_desc_t desc, size_t own_size,
                                 const char *own_text)
{
    struct taking taking = {kept, own_size, own_text};
    const ingot_status_t status = ingot_program_desc_visit_request(desc, copy_request, &taking);
    if (status != INGOT_SUCCESS)
        kept_request_fini(kept);
    return status;
}

static ingot_status_t accept_any_build_request(void *user, const ingot_build_request_t *request)
{
    (void)user;
    (void)request;
    return INGOT_SUCCESS;
}

ingot_status_t kept_request_check(ingot_program_desc_t desc)
{
    return ingot_program_desc_visit_request(desc, accept_any_build_request, NULL);
}

void kept_request_fini(struct kept_request *kept)
{
    free((void *)kept->text.bytes);
    free(kept->options);
    *kept = (struct kept_request){.options = NULL};
}

void kept_request_move(struct kept_request *to, struct kept_request *from)
{
    *to = *from;
    *from = (struct kept_request){.options = NULL};
}

static cl_program create_with_text(cl_context context, const ingot_source_view_t *text)
{
    const char *bytes = text->bytes;
    cl_int error = CL_SUCCESS;
    return layer_target.clCreateProgramWithSource(context, 1, &bytes, &text->size, &error);
}

static cl_program create_with_il(cl_context context, const ingot_source_view_t *il)
{
    cl_program(CL_API_CALL * create)(cl_context, const void *, size_t, cl_int *) = layer_target.clCreateProgramWithIL;
    cl_int error = CL_SUCCESS;
    cl_program native = create != NULL ? create(context, il->bytes, il->size, &error) : NULL;
    if (native == NULL) { /* a driver of OpenCL 2.0 has it as an extension */
        *(void **)&create = extension_find_for_context(context, "clCreateProgramWithILKHR");
        native = create != NULL ? create(context, il->bytes, il->size, &error) : NULL;
    }
    return native;
}

/* A program that is made again. */
struct making {
    cl_context context;
    cl_program native; /* the result; NULL: it failed */
};

/* Creates a program from the request's text or intermediate language. */
static ingot_status_t create_program(void *user, const ingot_build_request_t *request)
{
    struct making *making = user;
    const ingot_source_view_t *source = &request->sources[0];
    cl_int error = CL_SUCCESS;
    cl_program native = source->kind == INGOT_SOURCE_SPIRV ? create_with_il(making->context, source)
                                                           : create_with_text(making->context, source);
    for (size_t i = 0; native != NULL && i < request->spec_constant_count && error == CL_SUCCESS; ++i)
        error = layer_target.clSetProgramSpecializationConstant(
            native, request->spec_constants[i].id, request->spec_constants[i].size, request->spec_constants[i].value);
    if (native != NULL && error != CL_SUCCESS)
        (void)layer_target.clReleaseProgram(native);
    else
        making->native = native;
    return INGOT_SUCCESS;
}

cl_program kept_request_create(const struct kept_request *kept, const_ingot_program_desc_t desc, cl_context context)
{
    struct making making = {context, NULL};
    const ingot_build_request_t request = {
        .sources = &kept->text, .source_count = 1, .compile_options = "", .link_options = ""};
    if (kept->text.bytes != NULL)
        (void)create_program(&making, &request);
    else
        (void)ingot_program_desc_visit_request(desc, create_program, &making);
    return making.native;
}

cl_program kept_request_create_empty(cl_context context)
{
    const ingot_source_view_t text = {.bytes = "\n", .size = 1};
    return create_with_text(context, &text);
}

cl_program kept_request_publish(_Atomic(cl_program) *place, cl_program made)
{
    cl_program first = NULL;
    if (made == NULL ||
        atomic_compare_exchange_strong_explicit(place, &first, made, memory_order_acq_rel, memory_order_acquire))
        return made;
    (void)layer_target.clReleaseProgram(made);
    return first;
}
