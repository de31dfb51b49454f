/*
 * freshness.c - finds out what other machines did to a store on a network file system; see freshness.h.
 */
#include "persist/directory/layout/freshness.h"

#include <string.h>

#include "persist/base/files.h"
#include "util/nanoseconds.h"

#define MOST_ATTEMPTS 4u
#define FIRST_PAUSE_NS NS_PER_MS /* each further pause is twice as long */

void freshness_ask(const struct directory *directory, const char *bucket_path)
{
    char name_space[PATH_CAPACITY];
    const char *slash = strchr(bucket_path, '/');
    files_refresh(directory->root.fd, ".");
    if (slash != NULL) {
        const size_t length = (size_t)(slash - bucket_path);
        memcpy(name_space, bucket_path, length);
        name_space[length] = '\0';
        files_refresh(directory->root.fd, name_space);
    }
    files_refresh(directory->root.fd, bucket_path);
}

bool freshness_try_again(const struct directory *directory, const char *bucket_path, unsigned *attempt)
{
    if (*attempt == MOST_ATTEMPTS)
        return false;
    files_pause_ns(FIRST_PAUSE_NS << (*attempt)++);
    freshness_ask(directory, bucket_path);
    return true;
}
