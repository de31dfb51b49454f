/*
 * recordings.c - adds to the store's recipe what Ingot does not add by itself; see recordings.h.
 */
#include "layers/opencl/program/recordings.h"

#include <ingot/recipe.h>

#include "layers/common/settings.h"

void recordings_add_refused(const_ingot_program_desc_t desc)
{
    ingot_storage_t store = settings_store();
    if (store != NULL)
        (void)ingot_recipe_record_program(store, desc, NULL);
}

void recordings_add_kernel(const_ingot_program_desc_t desc, const char *name)
{
    ingot_storage_t store = settings_store();
    if (store != NULL)
        (void)ingot_recipe_record_kernel(store, desc, name);
}

void recordings_add_kernels(const_ingot_program_desc_t desc, cl_uint count, const cl_kernel *kernels)
{
    char name[4097]; /* longer names are not recorded */
    for (cl_uint i = 0; i < count; ++i)
        if (layer_target.clGetKernelInfo(kernels[i], CL_KERNEL_FUNCTION_NAME, sizeof(name), name, NULL) == CL_SUCCESS)
            recordings_add_kernel(desc, name);
}
