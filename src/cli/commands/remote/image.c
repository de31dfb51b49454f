/*
 * image.c - pushes and pulls images; see all.h.
 *
 * Ingot writes and reads an OCI image layout, which is a directory. skopeo moves it, with the credentials and
 * certificates that it knows, and leaves out what the other side has. So the layout stays beside the store.
 */
#include "cli/commands/all.h"

#include <errno.h>
#include <ingot/private/remote.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/base/base.h"
#include "cli/store/store.h"

/* Writes the path of the layout. Without one in the options, it is that of the store with ".image" appended. */
static int find_layout(const struct common_options *options, const struct image_options *image,
                       char path[IMAGE_PATH_SIZE])
{
    const char *directory = options->directory != NULL ? options->directory : getenv("INGOT_PERSIST_DIR");
    size_t size = directory != NULL ? strlen(directory) : 0;
    while (size > 1 && directory[size - 1] == '/')
        --size;
    const int length = image->layout != NULL ? snprintf(path, IMAGE_PATH_SIZE, "%s", image->layout)
                       : size != 0           ? snprintf(path, IMAGE_PATH_SIZE, "%.*s.image", (int)size, directory)
                                             : 0;
    if (length > 0 && length < IMAGE_PATH_SIZE)
        return EXIT_DONE;
    (void)fprintf(stderr, "ingot: no place for the image: name one by --layout DIR, or the store by --dir\n");
    return EXIT_USAGE;
}

/* Lets skopeo move the image between the layout and the registry. */
static int run_skopeo(const struct image_options *image, const char *layout, bool is_push)
{
    char local[IMAGE_PATH_SIZE + 32];
    char remote[IMAGE_PATH_SIZE];
    int status = 0;
    pid_t child = 0;
    const char *name = strncmp(image->reference, "docker://", 9) == 0 || strncmp(image->reference, "oci://", 6) == 0
                           ? strstr(image->reference, "//") + 2
                           : image->reference;
    (void)snprintf(local, sizeof(local), "oci:%s:" INGOT_IMAGE_TAG, layout);
    (void)snprintf(remote, sizeof(remote), "docker://%s", name);
    char plain[] = "--dest-tls-verify=false";
    char plain_source[] = "--src-tls-verify=false";
    char *words[8] = {"skopeo", "copy", "--quiet", "--preserve-digests"};
    size_t count = 4;
    if (image->is_plain)
        words[count++] = is_push ? plain : plain_source;
    words[count++] = is_push ? local : remote;
    words[count] = is_push ? remote : local;
    const int error = posix_spawnp(&child, "skopeo", NULL, NULL, words, environ);
    if (error == ENOENT)
        (void)fprintf(stderr,
                      "ingot: skopeo moves images, and is missing: install the package skopeo, or move %s yourself "
                      "(--layout DIR)\n",
                      layout);
    else if (error != 0)
        (void)fprintf(stderr, "ingot: skopeo: %s\n", strerror(error));
    if (error != 0)
        return EXIT_FAILED;
    (void)TEMP_FAILURE_RETRY(waitpid(child, &status, 0));
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return EXIT_DONE;
    (void)fprintf(stderr, "ingot: skopeo did not copy %s to %s\n", is_push ? local : remote, is_push ? remote : local);
    return EXIT_FAILED;
}

int image_push(const struct common_options *options, const struct image_options *image)
{
    char layout[IMAGE_PATH_SIZE];
    ingot_storage_t store = NULL;
    ingot_image_stats_t stats;
    int code = find_layout(options, image, layout);
    if (code == EXIT_DONE)
        code = store_open(&store, options, STORE_READ, NULL);
    if (code != EXIT_DONE)
        return code;
    const ingot_status_t status = ingot_image_write(store, layout, &stats);
    ingot_storage_release(store);
    if (status != INGOT_SUCCESS)
        return store_failed("writing an image", status);
    if (image->reference != NULL)
        code = run_skopeo(image, layout, true);
    if (code != EXIT_DONE)
        return code;
    cJSON *json = cJSON_CreateObject();
    json_add_u64(json, "entries", stats.entry_count);
    json_add_u64(json, "new", stats.new_count);
    json_add_u64(json, "failed", stats.failed_count);
    json_add_u64(json, "bytes", stats.new_bytes);
    output_print(json, options->is_json,
                 "the image has {entries} entries; {new} of them are new ({bytes:size}); {failed} failed\n");
    if (stats.failed_count != 0)
        (void)fprintf(stderr, "ingot: the last entry that failed: %s\n", stats.reason);
    return stats.failed_count != 0 ? EXIT_FINDING : EXIT_DONE;
}

int image_fetch(const struct common_options *options, const struct image_options *image, char layout[IMAGE_PATH_SIZE])
{
    const int code = find_layout(options, image, layout);
    return code == EXIT_DONE && image->reference != NULL ? run_skopeo(image, layout, false) : code;
}
