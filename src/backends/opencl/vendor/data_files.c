/*
 * data_files.c - lists the data files with which a driver compiles programs; see data_files.h.
 */
#include "backends/opencl/vendor/data_files.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static bool is_matching_name(const char *name, const char *prefix, const char *suffix)
{
    const size_t length = strlen(name);
    const size_t suffix_length = strlen(suffix);
    return name[0] != '.' && strncmp(name, prefix, strlen(prefix)) == 0 && length >= suffix_length &&
           strcmp(name + length - suffix_length, suffix) == 0;
}

ingot_status_t data_files_add(struct data_files *list, const char *directory, const char *name)
{
    if (list->count == DATA_FILES)
        return ingot_set_error_detail(INGOT_BACKEND_ERROR, "the driver's directory %s has too many files", directory);
    const int length = snprintf(list->texts[list->count], DATA_PATH_ROOM, "%s/%s", directory, name);
    if (length < 0 || length >= DATA_PATH_ROOM)
        return ingot_set_error_detail(INGOT_BACKEND_ERROR, "the driver's file %s/%s has a path of more than %d bytes",
                                      directory, name, DATA_PATH_ROOM - 1);
    list->paths[list->count] = list->texts[list->count];
    ++list->count;
    return INGOT_SUCCESS;
}

ingot_status_t data_files_add_all(struct data_files *list, const char *directory, const char *prefix,
                                  const char *suffix)
{
    ingot_status_t status = INGOT_SUCCESS;
    DIR *opened = opendir(directory);
    if (opened == NULL)
        return ingot_set_error_detail(INGOT_BACKEND_ERROR, "the driver's directory %s could not be opened", directory);
    for (const struct dirent *entry; status == INGOT_SUCCESS && (entry = readdir(opened)) != NULL;) {
        if (is_matching_name(entry->d_name, prefix, suffix))
            status = data_files_add(list, directory, entry->d_name);
    }
    (void)closedir(opened);
    return status;
}

void data_files_directory(const char *library, char directory[DATA_PATH_ROOM])
{
    const char *slash = strrchr(library, '/');
    (void)snprintf(directory, DATA_PATH_ROOM, "%.*s", slash != NULL ? (int)(slash - library) : 1,
                   slash != NULL ? library : ".");
}
