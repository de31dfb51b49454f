/*
 * pocl_files.c - finds the data files with which PoCL compiles programs.
 *
 * PoCL's library finds its data relative to itself, and tells where. Older versions do not; there, the known places are
 * tried. The data directory has include/ with the headers that precede each program, and a library of built-in
 * functions for each type of processor: kernel-TRIPLE-VARIANT.bc (9 MB). PoCL links a
 * program with the variant for the device's processor, whose name is a part of the device's name. If the name does not
 * contain a known processor, or if POCL_KERNELLIB_NAME chooses a library, this file adds all variants. The directory
 * pocl, beside PoCL's own library, has a library for each kind of device.
 */
#include "backends/opencl/vendor/data_files.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ANSWER_ROOM 4096u /* POCL_MAX_PATHNAME_LENGTH */

/* Processors, by LLVM's names, and the variants for them in the packages of PoCL that distributions offer. */
static const struct {
    const char *processor;
    const char *variant;
} variants[] = {
    {"x86-64", "sse2"},        {"core2", "ssse3"},     {"penryn", "sse41"}, {"sandybridge", "avx"},
    {"ivybridge", "avx_f16c"}, {"bdver1", "avx_fma4"}, {"haswell", "avx2"}, {"skylake-avx512", "avx512"},
};

/* Where a PoCL that does not tell has its data, relative to the directory of its library. */
static const char *const places[] = {
    "../../share/pocl",                                /* the library is in lib/ARCHITECTURE/ */
    "../share/pocl",                                   /* the library is in lib/ */
    "../../pocl_binary_distribution/.libs/share/pocl", /* a wheel for Python: the library is in pyopencl/.libs/ */
};

/* Writes the end of the name of the device's library file, such as "-avx2.bc" for "pthread-haswell-AMD EPYC". For an
 * unknown processor, writes ".bc", with which the names of all variants end. */
static void library_suffix(const char *device_name, size_t size, char *suffix)
{
    const char *processor = strchr(device_name, '-');
    (void)snprintf(suffix, size, ".bc");
    for (size_t i = 0; processor != NULL && i < sizeof(variants) / sizeof(variants[0]); ++i) {
        const size_t length = strlen(variants[i].processor);
        if (strncmp(processor + 1, variants[i].processor, length) == 0 && processor[1 + length] == '-')
            (void)snprintf(suffix, size, "-%s.bc", variants[i].variant);
    }
}

/* Asks PoCL's library for the directory of its data files. Returns false if it does not have the function, which
 * version 3.1 and later export. */
static bool ask_library(const char *library, char data[DATA_PATH_ROOM])
{
    int (*get_directory)(char *) = NULL;
    char answer[ANSWER_ROOM] = "";
    void *handle = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
    void *symbol = handle != NULL ? dlsym(handle, "pocl_get_private_datadir") : NULL;
    memcpy(&get_directory, &symbol, sizeof(symbol));
    if (get_directory != NULL)
        (void)get_directory(answer);
    if (handle != NULL)
        (void)dlclose(handle);
    const size_t length = strlen(answer);
    if (length == 0 || length >= DATA_PATH_ROOM)
        return false;
    memcpy(data, answer, length + 1);
    return true;
}

/* Finds the directory of the data files. */
static ingot_status_t find_data(const char *library, char data[DATA_PATH_ROOM])
{
    const char *building = getenv("POCL_BUILDING");
    char own[DATA_PATH_ROOM];
    if (building != NULL && strcmp(building, "0") != 0)
        return ingot_set_error_detail(INGOT_BACKEND_ERROR,
                                      "POCL_BUILDING is set, so PoCL's data files are those of its source directory");
    if (ask_library(library, data))
        return INGOT_SUCCESS;
    data_files_directory(library, own);
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); ++i) {
        char include[DATA_PATH_ROOM];
        const int length = snprintf(data, DATA_PATH_ROOM, "%s/%s", own, places[i]);
        const int include_length = snprintf(include, sizeof(include), "%s/%s/include", own, places[i]);
        if (length >= 0 && include_length >= 0 && include_length < (int)sizeof(include) && access(include, R_OK) == 0)
            return INGOT_SUCCESS;
    }
    return ingot_set_error_detail(INGOT_BACKEND_ERROR, "the data files of PoCL's library %s were not found", library);
}

static ingot_status_t add_pocl_files(struct data_files *list, const char *library, const char *suffix)
{
    char data[DATA_PATH_ROOM];
    char directory[DATA_PATH_ROOM];
    ingot_status_t status = find_data(library, data);
    if (status != INGOT_SUCCESS)
        return status;
    if (strlen(data) + strlen("/include") >= sizeof(directory))
        return ingot_set_error_detail(INGOT_BACKEND_ERROR, "PoCL's directory %s has a path of more than %d bytes", data,
                                      DATA_PATH_ROOM - 1);
    memcpy(directory, data, strlen(data) + 1);
    (void)strcat(directory, "/include");
    status = data_files_add_all(list, directory, "", "");
    const size_t headers = list->count;
    if (status == INGOT_SUCCESS)
        status = data_files_add_all(list, data, "", suffix);
    if (status == INGOT_SUCCESS && list->count == headers)
        /* PoCL was built for one processor, and the file's name does not contain a variant. */
        status = data_files_add_all(list, data, "", ".bc");
    data_files_directory(library, data);
    if (strlen(data) + strlen("/pocl") >= sizeof(directory))
        return status;
    memcpy(directory, data, strlen(data) + 1);
    (void)strcat(directory, "/pocl");
    if (status == INGOT_SUCCESS && access(directory, R_OK) == 0)
        status = data_files_add_all(list, directory, "", ".so"); /* a library for each kind of device */
    return status;
}

ingot_status_t pocl_add_files(const ingot_allocator_t *allocator, const char *device_name, const void *function,
                              ingot_identity_t *identity)
{
    const char *chosen = getenv("POCL_KERNELLIB_NAME");
    char suffix[32] = "";
    Dl_info about = {0};
    if (dladdr(function, &about) == 0 || about.dli_fname == NULL)
        return ingot_set_error_detail(INGOT_BACKEND_ERROR, "PoCL's library was not found");
    struct data_files *list = ingot_allocate(allocator, sizeof(*list));
    if (list == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for a list of files");
    library_suffix(chosen == NULL ? device_name : "", sizeof(suffix), suffix);
    ingot_status_t status = add_pocl_files(list, about.dli_fname, suffix);
    if (status == INGOT_SUCCESS)
        status = ingot_identity_add_files(identity, "device_library", list->paths);
    ingot_deallocate(allocator, list, sizeof(*list));
    return status;
}
