/*
 * store.c - opening stores; see store.h.
 *
 * A store is opened for writing only if it exists, so that a mistyped directory stays as it is.
 */
#include "cli/store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/exit_code.h"

enum { LOCK_TIMEOUT_MS = 10000, ROOT_CAPACITY = 16384 };

int store_failed(const char *doing, ingot_status_t status)
{
    (void)fprintf(stderr, "ingot: %s failed: %s: %s\n", doing, ingot_status_name(status), ingot_last_error_detail());
    return EXIT_FAILED;
}

/* A process that opens a store for writing creates the tag; the first that stores creates the lock. */
static bool is_store(const char *path)
{
    const int root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (root < 0)
        return false;
    const bool has_mark = faccessat(root, "lock", F_OK, AT_SYMLINK_NOFOLLOW) == 0 ||
                          faccessat(root, "CACHEDIR.TAG", F_OK, AT_SYMLINK_NOFOLLOW) == 0;
    (void)close(root);
    return has_mark;
}

static bool is_there(const char *path, enum store_access store_access)
{
    if (access(path, F_OK) != 0)
        (void)fprintf(stderr, "ingot: no store at %s: %s\n", path, strerror(errno));
    else if (store_access == STORE_WRITE && !is_store(path))
        (void)fprintf(stderr, "ingot: %s is not a store: it has neither lock nor CACHEDIR.TAG\n", path);
    else
        return true;
    return false;
}

static int read_environment(ingot_persist_info_t *info, char root[ROOT_CAPACITY])
{
    const ingot_status_t status = ingot_persist_info_from_environment(info, ROOT_CAPACITY, root);
    if (status == INGOT_SUCCESS)
        return EXIT_DONE;
    (void)fprintf(stderr, "ingot: %s; --dir names a store\n", ingot_last_error_detail());
    return status == INGOT_NOT_FOUND ? EXIT_NO_STORE : EXIT_USAGE;
}

int store_open(ingot_storage_t *storage, const struct common_options *options, enum store_access store_access,
               const ingot_persist_eviction_t *order)
{
    char root[ROOT_CAPACITY];
    ingot_persist_info_t info = INGOT_PERSIST_INFO_INIT;

    if (options->directory == NULL) {
        const int code = read_environment(&info, root);
        if (code != EXIT_DONE)
            return code;
    } else {
        info.path = options->directory;
    }
    if (store_access != STORE_MAKE)
        info.flags &= ~(uint32_t)INGOT_PERSIST_MAKE_PARENTS;
    if (store_access != STORE_READ && info.max_bytes == 0)
        info.max_bytes = UINT64_MAX; /* the application's limit is unknown, so the tool must not evict its entries */
    if (options->trust_policy != INGOT_PERSIST_TRUST_NONE)
        info.trust_policy = options->trust_policy;
    if (options->key_files != NULL)
        info.key_files = options->key_files;
    info.name_space = options->name_space;
    info.lock_timeout_ms = LOCK_TIMEOUT_MS;
    info.max_age_seconds = 0; /* include old entries */
    if (order != NULL)
        info.eviction = *order;
    if (store_access == STORE_READ)
        info.flags |= (uint32_t)INGOT_PERSIST_READ_ONLY;
    if (store_access != STORE_MAKE && !is_there(info.path, store_access))
        return EXIT_NO_STORE;
    const ingot_status_t status = ingot_persist_open(storage, &info);
    if (status == INGOT_SUCCESS)
        return EXIT_DONE;
    (void)store_failed("opening the store", status);
    return status == INGOT_INVALID_ARGUMENTS ? EXIT_USAGE : EXIT_NO_STORE;
}
