/*
 * headers.c - writes a program's embedded headers to files; see headers.h.
 *
 * A header's name may contain directories ("shapes/box.h"), but must not lead out of the directory.
 */
#include "headers.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int leaves_directory(const char *name)
{
    const char *dots = name;

    if (name[0] == '/')
        return 1;
    while ((dots = strstr(dots, "..")) != NULL) {
        if ((dots == name || dots[-1] == '/') && (dots[2] == '/' || dots[2] == '\0'))
            return 1;
        ++dots;
    }
    return 0;
}

static int write_header(const char *path, const ingot_source_view_t *header)
{
    FILE *file = fopen(path, "wx");

    if (file == NULL)
        return -1;
    const size_t written = fwrite(header->bytes, 1, header->size, file);
    return fclose(file) == 0 && written == header->size ? 0 : -1;
}

static ingot_status_t add_header(const char *directory, const ingot_source_view_t *header)
{
    char path[HEADER_DIRECTORY_SIZE + 1024];
    const int length = snprintf(path, sizeof(path), "%s/%s", directory, header->name);

    if (leaves_directory(header->name) || length < 0 || (size_t)length >= sizeof(path))
        return ingot_set_error_detail(INGOT_BUILD_FAILED, "no name for a header: '%s'", header->name);
    for (char *slash = path + strlen(directory) + 1; (slash = strchr(slash, '/')) != NULL; *slash++ = '/') {
        *slash = '\0';
        if (mkdir(path, 0700) != 0 && errno != EEXIST)
            return ingot_set_error_detail(INGOT_BACKEND_ERROR, "mkdir %s: %s", path, strerror(errno));
    }
    if (write_header(path, header) != 0)
        return ingot_set_error_detail(INGOT_BACKEND_ERROR, "%s could not be written: %s", path, strerror(errno));
    return INGOT_SUCCESS;
}

ingot_status_t headers_write(const ingot_build_request_t *request, char directory[HEADER_DIRECTORY_SIZE])
{
    ingot_status_t status = INGOT_SUCCESS;
    const char *base = getenv("TMPDIR");

    directory[0] = '\0';
    if (request->header_count == 0)
        return INGOT_SUCCESS;
    const int length = snprintf(directory, HEADER_DIRECTORY_SIZE, "%s/tinycc-XXXXXX", base != NULL ? base : "/tmp");
    if (length < 0 || length >= HEADER_DIRECTORY_SIZE || mkdtemp(directory) == NULL) {
        directory[0] = '\0';
        return ingot_set_error_detail(INGOT_BACKEND_ERROR, "no directory for headers: %s", strerror(errno));
    }
    for (size_t i = 0; status == INGOT_SUCCESS && i < request->header_count; ++i)
        status = add_header(directory, &request->headers[i]);
    if (status != INGOT_SUCCESS) {
        headers_remove(directory);
        directory[0] = '\0';
    }
    return status;
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *place)
{
    (void)status;
    (void)kind;
    (void)place;
    return remove(path);
}

void headers_remove(const char *directory)
{
    if (directory[0] != '\0')
        (void)nftw(directory, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}
