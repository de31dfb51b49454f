/*
 * desc_request.c - a descriptor as a backend sees it: views of its sources, and its options joined with the environment's.
 */
#include <string.h>

#include "core/error.h"
#include "core/include_closure/include_closure.h"
#include "core/program_desc.h"

char *options_join(const ingot_allocator_t *allocator, const char *own, const char *environment)
{
    const size_t own_size = own != NULL ? strlen(own) : 0;
    const size_t environment_size = strlen(environment);
    const size_t gap = own_size != 0 && environment_size != 0 ? 1 : 0;
    char *joined = alloc_bytes(allocator, own_size + gap + environment_size + 1);

    if (joined == NULL)
        return NULL;
    if (own_size != 0)
        memcpy(joined, own, own_size);
    memset(joined + own_size, ' ', gap);
    memcpy(joined + own_size + gap, environment, environment_size + 1);
    return joined;
}

ingot_status_t desc_request_init(struct desc_request *request, const struct ingot_program_desc *desc)
{
    const ingot_allocator_t *allocator = &desc->context->allocator;
    const size_t count = desc->source_count + desc->header_count;

    memset(request, 0, sizeof(*request));
    request->views = alloc_bytes(allocator, count * sizeof(*request->views));
    request->compile_options = options_join(allocator, desc->compile_options, desc->context->compile_options);
    request->link_options = options_join(allocator, desc->link_options, desc->context->link_options);
    if (request->views == NULL || request->compile_options == NULL || request->link_options == NULL) {
        desc_request_fini(request, desc);
        return error_out_of_memory();
    }
    for (size_t i = 0; i < count; ++i)
        request->views[i] = source_view(desc->sources[i]);
    request->request = (ingot_build_request_t){.struct_size = sizeof(request->request),
                                               .sources = request->views,
                                               .source_count = desc->source_count,
                                               .headers = request->views + desc->source_count,
                                               .header_count = desc->header_count,
                                               .compile_options = request->compile_options,
                                               .link_options = request->link_options,
                                               .spec_constants = desc->spec_constants,
                                               .spec_constant_count = desc->spec_constant_count,
                                               .name_expressions = desc->name_expressions,
                                               .name_expression_count = desc->name_expression_count};
    return INGOT_SUCCESS;
}

void desc_request_fini(struct desc_request *request, const struct ingot_program_desc *desc)
{
    const ingot_allocator_t *allocator = &desc->context->allocator;

    alloc_free(allocator, request->views,
               (desc->source_count + desc->header_count) * sizeof(*request->views));
    alloc_free_text(allocator, request->compile_options);
    alloc_free_text(allocator, request->link_options);
    memset(request, 0, sizeof(*request));
}

ingot_status_t desc_request_check_files(const struct desc_request *request, const struct ingot_program_desc *desc,
                                        bool *unchanged)
{
    struct include_closure closure;

    *unchanged = true;
    if (desc->files_size == 0)
        return INGOT_SUCCESS;
    include_closure_init(&closure, &desc->context->allocator);
    ingot_status_t status = include_closure_resolve(&closure, request->request.sources, desc->source_count,
                                                    request->request.headers, desc->header_count,
                                                    request->compile_options);
    if (status == INGOT_SUCCESS && closure.files.failed)
        status = error_out_of_memory();
    if (status == INGOT_SUCCESS)
        *unchanged = closure.reason == NULL && closure.files.size == desc->files_size &&
                     memcmp(closure.files.bytes, desc->files, desc->files_size) == 0;
    include_closure_fini(&closure);
    return status;
}
