/*
 * data_files.h - lists the data files with which a driver compiles programs.
 */
#ifndef INGOT_BACKENDS_OPENCL_VENDOR_DATA_FILES_H
#define INGOT_BACKENDS_OPENCL_VENDOR_DATA_FILES_H

#include <ingot/private/backend.h>

enum { DATA_FILES = 128, DATA_PATH_ROOM = 512 };

struct data_files {
    size_t count;
    const char *paths[DATA_FILES + 1]; /* NULL-terminated */
    char texts[DATA_FILES][DATA_PATH_ROOM];
};

ingot_status_t data_files_add(struct data_files *list, const char *directory, const char *name);
/* Adds all files of a directory whose names begin and end so. Files whose names begin with a dot are not added. */
ingot_status_t data_files_add_all(struct data_files *list, const char *directory, const char *prefix,
                                  const char *suffix);
/* Add the field "device_library" to a device's identity: PoCL's device library and headers (pocl_files.c), and the data
 * files of Intel's runtime for CPUs (intel_cpu_files.c), because every program is compiled with them. `function` is any
 * function of the driver; the path of its library leads to the files. */
ingot_status_t pocl_add_files(const ingot_allocator_t *allocator, const char *device_name, const void *function,
                              ingot_identity_t *identity);
ingot_status_t intel_cpu_add_files(const ingot_allocator_t *allocator, const void *function,
                                   ingot_identity_t *identity);

/* Writes the directory of a library, without the slash at its end. */
void data_files_directory(const char *library, char directory[DATA_PATH_ROOM]);

#endif
