/*
 * data_files.c - finds the data files with which a driver compiles programs; see data_files.h.
 */
#include "backends/opencl/vendor/data_files.h"

#include <dirent.h>
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DATA_FILES = 128, DATA_PATH_ROOM = 512 };

struct data_files {
    size_t count;
    const char *paths[DATA_FILES + 1]; /* NULL-terminated */
    char texts[DATA_FILES][DATA_PATH_ROOM];
};

/* Adds all files of the directory PARENT/NAME whose names begin and end so. Files whose names begin with a dot are not
 * added. */
static ingot_status_t add_all(struct data_files *list, const char *parent, const char *name, const char *prefix,
                              const char *suffix)
{
    char directory[DATA_PATH_ROOM];
    const size_t suffix_length = strlen(suffix);
    ingot_status_t status = INGOT_SUCCESS;
    int size = snprintf(directory, sizeof(directory), "%s%s", parent, name);
    DIR *opened = size >= 0 && size < DATA_PATH_ROOM ? opendir(directory) : NULL;
    if (opened == NULL)
        return ingot_set_error_detail(INGOT_BACKEND_ERROR, "the driver's directory %s%s could not be opened", parent,
                                      name);
    for (const struct dirent *entry; status == INGOT_SUCCESS && (entry = readdir(opened)) != NULL;) {
        const char *file = entry->d_name;
        const size_t length = strlen(file);
        if (file[0] == '.' || strncmp(file, prefix, strlen(prefix)) != 0 || length < suffix_length ||
            strcmp(file + length - suffix_length, suffix) != 0)
            continue;
        if (list->count == DATA_FILES) {
            status =
                ingot_set_error_detail(INGOT_BACKEND_ERROR, "the driver's directory %s has too many files", directory);
            continue;
        }
        size = snprintf(list->texts[list->count], DATA_PATH_ROOM, "%s/%s", directory, file);
        if (size < 0 || size >= DATA_PATH_ROOM)
            status =
                ingot_set_error_detail(INGOT_BACKEND_ERROR, "the driver's file %s/%s has a path of more than %d bytes",
                                       directory, file, DATA_PATH_ROOM - 1);
        list->paths[list->count] = list->texts[list->count];
        ++list->count;
    }
    (void)closedir(opened);
    return status;
}

/* Adds the field "device_library": the files that `add` finds beside the library of the driver that `function` is in.
 * `own`: the directory of the library. */
static ingot_status_t add_files(const ingot_allocator_t *allocator, const void *function, const char *device_name,
                                ingot_status_t (*add)(struct data_files *list, const char *library, const char *own,
                                                      const char *device_name),
                                ingot_identity_t *identity)
{
    char own[DATA_PATH_ROOM];
    Dl_info about = {0};
    if (dladdr(function, &about) == 0 || about.dli_fname == NULL)
        return ingot_set_error_detail(INGOT_BACKEND_ERROR, "the driver's library was not found");
    struct data_files *list = ingot_allocate(allocator, sizeof(*list));
    if (list == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for a list of files");
    const char *slash = strrchr(about.dli_fname, '/');
    (void)snprintf(own, sizeof(own), "%.*s", slash != NULL ? (int)(slash - about.dli_fname) : 1,
                   slash != NULL ? about.dli_fname : ".");
    ingot_status_t status = add(list, about.dli_fname, own, device_name);
    if (status == INGOT_SUCCESS)
        status = ingot_identity_add_files(identity, "device_library", list->paths);
    ingot_deallocate(allocator, list, sizeof(*list));
    return status;
}

/* ---- PoCL ----
 *
 * PoCL's library finds its data relative to itself, and tells where. Older versions do not; there, the known places are
 * tried. The data directory has include/ with the headers that precede each program, and a library of built-in
 * functions for each type of processor: kernel-TRIPLE-VARIANT.bc (9 MB). PoCL links a program with the variant for the
 * device's processor, whose name is a part of the device's name. If the name does not contain a known processor, or if
 * POCL_KERNELLIB_NAME chooses a library, this file adds all variants. The directory pocl, beside PoCL's own library,
 * has a library for each kind of device.
 */

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
static ingot_status_t find_data(const char *library, const char *own, char data[DATA_PATH_ROOM])
{
    const char *building = getenv("POCL_BUILDING");
    if (building != NULL && strcmp(building, "0") != 0)
        return ingot_set_error_detail(INGOT_BACKEND_ERROR,
                                      "POCL_BUILDING is set, so PoCL's data files are those of its source directory");
    if (ask_library(library, data))
        return INGOT_SUCCESS;
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); ++i) {
        char include[DATA_PATH_ROOM];
        const int length = snprintf(data, DATA_PATH_ROOM, "%s/%s", own, places[i]);
        const int include_length = snprintf(include, sizeof(include), "%s/%s/include", own, places[i]);
        if (length >= 0 && include_length >= 0 && include_length < (int)sizeof(include) && access(include, R_OK) == 0)
            return INGOT_SUCCESS;
    }
    return ingot_set_error_detail(INGOT_BACKEND_ERROR, "the data files of PoCL's library %s were not found", library);
}

static ingot_status_t add_pocl_files(struct data_files *list, const char *library, const char *own,
                                     const char *device_name)
{
    char data[DATA_PATH_ROOM];
    char suffix[32] = ".bc";
    char kinds[DATA_PATH_ROOM + sizeof("/pocl")];
    /* the end of the library file's name, such as "-avx2.bc" for "pthread-haswell-AMD EPYC"; for an unknown processor,
     * ".bc" */
    const char *processor = getenv("POCL_KERNELLIB_NAME") == NULL ? strchr(device_name, '-') : NULL;
    for (size_t i = 0; processor != NULL && i < sizeof(variants) / sizeof(variants[0]); ++i) {
        const size_t length = strlen(variants[i].processor);
        if (strncmp(processor + 1, variants[i].processor, length) == 0 && processor[1 + length] == '-')
            (void)snprintf(suffix, sizeof(suffix), "-%s.bc", variants[i].variant);
    }
    ingot_status_t status = find_data(library, own, data);
    if (status == INGOT_SUCCESS)
        status = add_all(list, data, "/include", "", "");
    const size_t headers = list->count;
    if (status == INGOT_SUCCESS)
        status = add_all(list, data, "", "", suffix);
    if (status == INGOT_SUCCESS && list->count == headers)
        /* PoCL was built for one processor, and the file's name does not contain a variant. */
        status = add_all(list, data, "", "", ".bc");
    (void)snprintf(kinds, sizeof(kinds), "%s/pocl", own);
    if (status == INGOT_SUCCESS && access(kinds, R_OK) == 0)
        status = add_all(list, own, "/pocl", "", ".so"); /* a library for each kind of device */
    return status;
}

ingot_status_t pocl_add_files(const ingot_allocator_t *allocator, const char *device_name, const void *function,
                              ingot_identity_t *identity)
{
    return add_files(allocator, function, device_name, add_pocl_files, identity);
}

/* ---- Intel's runtime for CPUs (platform "Intel(R) OpenCL") ----
 *
 * Its data files are beside the runtime's library: cl.cfg with its settings, a library of built-in functions for each
 * type of processor as LLVM code (clbltfn*.rtl, cllibrary*.rtl) and as objects (cllibrary*.o), and the vector
 * mathematics that programs call (libocl_svml_*.so). Which of them a program needs depends on the processor and on the
 * settings, so all of them are added. The names are those of version 2026.22.
 */

/* Variables that name files, which take the place of a program or change it. */
static const char *const files_by_variable[] = {"CL_CONFIG_REPLACE_IR_BEFORE_OPTIMIZER",
                                                "CL_CONFIG_REPLACE_IR_AFTER_OPTIMIZER",
                                                "CL_CONFIG_FORCE_PROFILE_LIB_PATH"};

static ingot_status_t add_intel_files(struct data_files *list, const char *library, const char *own,
                                      const char *device_name)
{
    (void)library;
    (void)device_name;
    for (size_t i = 0; i < sizeof(files_by_variable) / sizeof(files_by_variable[0]); ++i) {
        if (getenv(files_by_variable[i]) != NULL)
            return ingot_set_error_detail(INGOT_BACKEND_ERROR, "%s is set, so programs depend on a file that it names",
                                          files_by_variable[i]);
    }
    ingot_status_t status = add_all(list, own, "", "cl", ".rtl");
    if (status == INGOT_SUCCESS && list->count == 0)
        return ingot_set_error_detail(INGOT_BACKEND_ERROR, "%s has no data files (*.rtl) of Intel's runtime for CPUs",
                                      own);
    if (status == INGOT_SUCCESS)
        status = add_all(list, own, "", "cllibrary", ".o");
    if (status == INGOT_SUCCESS)
        status = add_all(list, own, "", "libocl_svml_", ".so");
    return status == INGOT_SUCCESS ? add_all(list, own, "", "cl", ".cfg") : status;
}

ingot_status_t intel_cpu_add_files(const ingot_allocator_t *allocator, const void *function, ingot_identity_t *identity)
{
    return add_files(allocator, function, "", add_intel_files, identity);
}
