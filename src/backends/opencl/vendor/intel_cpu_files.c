/*
 * intel_cpu_files.c - finds the data files with which Intel's runtime for CPUs (platform "Intel(R) OpenCL") compiles
 * programs.
 *
 * They are beside the runtime's library: cl.cfg with its settings, a library of built-in functions for each type of
 * processor as LLVM code (clbltfn*.rtl, cllibrary*.rtl) and as objects (cllibrary*.o), and the vector mathematics that
 * programs call (libocl_svml_*.so). Which of them a program needs depends on the processor and on the settings, so all
 * of them are added. The names are those of version 2026.22.
 */
#include "backends/opencl/vendor/data_files.h"

#include <dlfcn.h>
#include <stdlib.h>

/* Variables that name files, which take the place of a program or change it. */
static const char *const files_by_variable[] = {"CL_CONFIG_REPLACE_IR_BEFORE_OPTIMIZER",
                                                "CL_CONFIG_REPLACE_IR_AFTER_OPTIMIZER",
                                                "CL_CONFIG_FORCE_PROFILE_LIB_PATH"};

static ingot_status_t add_functions(struct data_files *list, const char *directory)
{
    ingot_status_t status = data_files_add_all(list, directory, "cl", ".rtl");
    if (status == INGOT_SUCCESS && list->count == 0)
        return ingot_set_error_detail(INGOT_BACKEND_ERROR, "%s has no data files (*.rtl) of Intel's runtime for CPUs",
                                      directory);
    if (status == INGOT_SUCCESS)
        status = data_files_add_all(list, directory, "cllibrary", ".o");
    if (status == INGOT_SUCCESS)
        status = data_files_add_all(list, directory, "libocl_svml_", ".so");
    return status;
}

static ingot_status_t add_intel_files(struct data_files *list, const char *library)
{
    char directory[DATA_PATH_ROOM];
    for (size_t i = 0; i < sizeof(files_by_variable) / sizeof(files_by_variable[0]); ++i) {
        if (getenv(files_by_variable[i]) != NULL)
            return ingot_set_error_detail(INGOT_BACKEND_ERROR, "%s is set, so programs depend on a file that it names",
                                          files_by_variable[i]);
    }
    data_files_directory(library, directory);
    const ingot_status_t status = add_functions(list, directory);
    return status == INGOT_SUCCESS ? data_files_add_all(list, directory, "cl", ".cfg") : status;
}

ingot_status_t intel_cpu_add_files(const ingot_allocator_t *allocator, const void *function, ingot_identity_t *identity)
{
    Dl_info about = {0};
    if (dladdr(function, &about) == 0 || about.dli_fname == NULL)
        return ingot_set_error_detail(INGOT_BACKEND_ERROR, "the library of Intel's runtime for CPUs was not found");
    struct data_files *list = ingot_allocate(allocator, sizeof(*list));
    if (list == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for a list of files");
    ingot_status_t status = add_intel_files(list, about.dli_fname);
    if (status == INGOT_SUCCESS)
        status = ingot_identity_add_files(identity, "device_library", list->paths);
    ingot_deallocate(allocator, list, sizeof(*list));
    return status;
}
