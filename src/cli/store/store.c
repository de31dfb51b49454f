/*
 * store.c - opens stores and servers; see store.h.
 *
 * A store is opened for writing only if it exists, and --dir becomes a new one only where nothing else is, so that a
 * mistyped directory is not changed: its CACHEDIR.TAG would make backups leave it out.
 */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ingot/backend.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/base/base.h"
#include "cli/store/store.h"
#include "util/environment.h"

#define NO_STORE "%s is not a store: it has neither lock nor CACHEDIR.TAG"

enum { LOCK_TIMEOUT_MS = 10000, CONNECT_MS = 5000, STALL_MS = 30000 };

/* A store that is being opened. */
struct opening {
    const struct common_options *options;
    enum store_access store_access;
    unsigned *order;
    ingot_persist_trust_t trust;
    bool is_environment_valid;
    bool is_missing;
};

void store_tell_failure(ingot_status_t status, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    (void)fputs("ingot: ", stderr);
    (void)vfprintf(stderr, format, values);
    (void)fprintf(stderr, ": %s: %s\n", ingot_status_name(status), ingot_last_error_detail());
    va_end(values);
}

int store_failed(const char *doing, ingot_status_t status)
{
    store_tell_failure(status, "%s failed", doing);
    return EXIT_FAILED;
}

/* True if the directory is a store. A process that opens a store for writing creates CACHEDIR.TAG, and the first
 * process that stores a blob creates the lock file. */
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

/* True if the directory has anything but what file systems put into their roots. */
static bool has_anything(const char *path)
{
    DIR *folder = opendir(path);
    const struct dirent *found = NULL;
    bool has_any = folder == NULL && errno == EACCES;
    while (folder != NULL && !has_any && (found = readdir(folder)) != NULL)
        has_any = strcmp(found->d_name, ".") != 0 && strcmp(found->d_name, "..") != 0 &&
                  strcmp(found->d_name, "lost+found") != 0;
    if (folder != NULL)
        (void)closedir(folder);
    return has_any;
}

/* Counts what a store of an earlier format left beside the store: directories with decimal digits as names. */
static uint64_t count_old(const char *path)
{
    uint64_t count = 0;
    struct stat facts;
    DIR *folder = opendir(path);
    for (const struct dirent *found; folder != NULL && (found = readdir(folder)) != NULL;)
        count += strlen(found->d_name) > 2 && found->d_name[strspn(found->d_name, "0123456789")] == '\0' &&
                 fstatat(dirfd(folder), found->d_name, &facts, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(facts.st_mode);
    if (folder != NULL)
        (void)closedir(folder);
    return count;
}

static bool is_file(const char *path)
{
    struct stat facts;
    return stat(path, &facts) == 0 && S_ISREG(facts.st_mode);
}

void store_take_namespace(struct common_options *options)
{
    if (options->name_space == NULL)
        options->name_space = environment_value("INGOT_PERSIST_NAMESPACE");
}

ingot_persist_trust_policy_t store_policy(bool is_required, const char *key_files)
{
    if (is_required)
        return INGOT_PERSIST_TRUST_REQUIRE;
    return key_files != NULL ? INGOT_PERSIST_TRUST_VERIFY : INGOT_PERSIST_TRUST_NONE;
}

int store_read_trust(ingot_persist_trust_t *trust, const struct common_options *options)
{
    static const char *const words[] = {"none", "verify", "require"}; /* in the order of ingot_persist_trust_policy_t */
    const char *word = options->ignores_trust_variable ? NULL : environment_value("INGOT_PERSIST_TRUST");
    size_t chosen = 0;
    *trust = (ingot_persist_trust_t)INGOT_PERSIST_TRUST_INIT;
    if (word != NULL && !environment_choose(word, sizeof(words) / sizeof(words[0]), words, &chosen)) {
        (void)fprintf(stderr, "ingot: INGOT_PERSIST_TRUST: \"%.80s\" is not none, verify or require\n", word);
        return EXIT_USAGE;
    }
    trust->policy = (ingot_persist_trust_policy_t)chosen;
    if (options->trust_policy > trust->policy)
        trust->policy = options->trust_policy;
    trust->key_files = options->key_files != NULL ? options->key_files : environment_value("INGOT_PERSIST_KEYS");
    if (trust->key_files == NULL || word != NULL || trust->policy != INGOT_PERSIST_TRUST_NONE)
        return EXIT_DONE;
    (void)fprintf(stderr,
                  "ingot: INGOT_PERSIST_KEYS has no effect: set INGOT_PERSIST_TRUST to verify or require, too\n");
    return EXIT_USAGE;
}

void store_tell_event(const ingot_event_t *event, void *unused)
{
    (void)unused;
    if (event->kind == INGOT_EVENT_STORAGE_DEGRADED && event->status != INGOT_SUCCESS)
        (void)fprintf(stderr, "ingot: %s\n", event->reason);
}

void store_release_blob(ingot_buffer_t *blob)
{
    if (blob->release != NULL)
        blob->release(blob);
    *blob = (ingot_buffer_t)INGOT_BUFFER_INIT;
}

/* Changes the settings of the environment to those of the tool. */
static ingot_status_t adjust_settings_for_tool(ingot_persist_info_t *info, void *user)
{
    struct opening *opening = user;
    const struct common_options *options = opening->options;
    const enum store_access store_access = opening->store_access;
    info->trust = &opening->trust; /* the environment may have a weaker policy than the options */
    if (store_access == STORE_MAKE)
        info->on_event = store_tell_event;
    else
        info->flags &= ~(uint32_t)INGOT_PERSIST_MAKE_PARENTS;
    if (store_access > STORE_READ && info->max_bytes == 0)
        info->max_bytes =
            INGOT_UNLIMITED; /* the application's limit is unknown, so the tool must not evict its entries */
    const char *keeps = environment_value("INGOT_PERSIST_REQUESTS"); /* only build keeps requests */
    uint64_t keeps_requests = 0;
    if (keeps != NULL && environment_parse(ENVIRONMENT_SWITCH, keeps, &keeps_requests) && keeps_requests != 0)
        info->flags |= (uint32_t)INGOT_PERSIST_KEEP_REQUESTS;
    info->name_space = options->name_space;
    info->lock_timeout_ms = LOCK_TIMEOUT_MS;
    info->max_age_ms = 0;
    info->on_miss = INGOT_PERSIST_ON_MISS_COMPILE; /* `ingot build` compiles */
    if (opening->order != NULL && *opening->order != 0)
        info->eviction = *opening->order == STORE_LRU ? INGOT_PERSIST_EVICT_LRU : INGOT_PERSIST_EVICT_FIFO;
    else if (opening->order != NULL)
        *opening->order = info->eviction == INGOT_PERSIST_EVICT_LRU ? STORE_LRU : STORE_FIFO;
    if (store_access == STORE_READ)
        info->flags |= (uint32_t)INGOT_PERSIST_READ_ONLY;
    opening->is_environment_valid = true;
    if (store_access != STORE_MAKE && access(info->path, F_OK) != 0)
        (void)fprintf(stderr, "ingot: no store at %s: %s\n", info->path, strerror(errno));
    else if ((store_access == STORE_WRITE ||
              (store_access == STORE_MAKE && options->directory != NULL && has_anything(info->path))) &&
             !is_store(info->path))
        (void)fprintf(stderr, "ingot: " NO_STORE "\n", info->path);
    else {
        if (options->old_count != NULL)
            *options->old_count = count_old(info->path);
        return INGOT_SUCCESS;
    }
    opening->is_missing = true;
    return INGOT_NOT_FOUND;
}

bool store_is_bundle(const struct common_options *options)
{
    return options->directory != NULL && is_file(options->directory);
}

int store_open(ingot_storage_t *storage, const struct common_options *options, enum store_access store_access,
               unsigned *order)
{
    struct opening opening = {.options = options, .store_access = store_access, .order = order};
    ingot_persist_info_t info = INGOT_PERSIST_INFO_INIT;
    const int code = store_read_trust(&opening.trust, options);
    if (code != EXIT_DONE)
        return code;
    const bool is_bundle = store_access == STORE_READ && store_is_bundle(options);
    if (is_bundle && options->name_space != NULL) {
        (void)fprintf(stderr, "ingot: %s is a bundle, whose entries have no namespace\n", options->directory);
        return EXIT_USAGE;
    }
    info.path = options->directory;
    info.trust = &opening.trust; /* without a policy, keys of the environment would be refused as useless */
    info.adjust = adjust_settings_for_tool;
    info.adjust_user = &opening;
    ingot_status_t status = INGOT_SUCCESS;
    if (options->directory == NULL)
        info.flags = INGOT_PERSIST_FROM_ENVIRONMENT;
    if (is_bundle)
        status = ingot_persist_open_bundle(storage, options->directory, &opening.trust);
    else if (options->directory == NULL || (status = adjust_settings_for_tool(&info, &opening)) == INGOT_SUCCESS)
        status = ingot_persist_open(storage, &info);
    if (status == INGOT_SUCCESS || opening.is_missing)
        return status == INGOT_SUCCESS ? EXIT_DONE : EXIT_NO_STORE;
    if (options->directory == NULL && !opening.is_environment_valid) {
        (void)fprintf(stderr, "ingot: %s; --dir names a store\n", ingot_last_error_detail());
        return status == INGOT_NOT_FOUND ? EXIT_NO_STORE : EXIT_USAGE;
    }
    (void)store_failed("opening the store", status);
    return status == INGOT_INVALID_ARGUMENTS ? EXIT_USAGE : EXIT_NO_STORE;
}

ingot_status_t store_open_source(ingot_storage_t *source, const char *path, const char *name_space,
                                 const ingot_persist_trust_t *trust)
{
    ingot_persist_info_t info = INGOT_PERSIST_INFO_INIT;
    if (is_file(path))
        return ingot_persist_open_bundle(source, path, trust);
    if (access(path, F_OK) == 0 && !is_store(path))
        return ingot_set_error_detail(INGOT_NOT_FOUND, NO_STORE, path);
    info.path = path;
    info.name_space = name_space[0] != '\0' ? name_space : NULL;
    info.flags = INGOT_PERSIST_READ_ONLY;
    info.trust = trust;
    return ingot_persist_open(source, &info);
}

int store_use(const struct common_options *options, enum store_access store_access, store_user_t use, void *values)
{
    ingot_storage_t storage = NULL;
    int code = store_open(&storage, options, store_access, NULL);
    if (code == EXIT_DONE)
        code = use(storage, values);
    ingot_storage_release(storage);
    return code;
}

#if INGOT_WITH_REMOTE

int server_make_info(ingot_remote_info_t *info, const char *url)
{
    if (url != NULL ? url[0] == '\0' : environment_value("INGOT_PERSIST_REMOTE") == NULL) {
        (void)fprintf(stderr, "ingot: INGOT_PERSIST_REMOTE is not set; name a URL\n");
        return EXIT_USAGE;
    }
    *info = (ingot_remote_info_t)INGOT_REMOTE_INFO_INIT;
    info->url = url;
    info->flags = INGOT_REMOTE_FROM_ENVIRONMENT;
    return EXIT_DONE;
}

int server_open(ingot_storage_t *server, const struct common_options *options, const char *url, uint32_t flags)
{
    ingot_remote_info_t info;
    ingot_persist_trust_t trust;
    int code = server_make_info(&info, url);
    if (code == EXIT_DONE)
        code = store_read_trust(&trust, options);
    if (code != EXIT_DONE)
        return code;
    info.trust = &trust; /* the options may demand more than the environment */
    info.flags |= flags;
    info.connect_timeout_ms = CONNECT_MS;
    info.stall_timeout_ms = STALL_MS;
    info.lost_time_ms = INGOT_UNLIMITED;
    info.on_event = store_tell_event;
    const ingot_status_t status = ingot_remote_open(server, &info);
    if (status == INGOT_SUCCESS)
        return EXIT_DONE;
    (void)store_failed("opening the server", status);
    return status == INGOT_OUT_OF_MEMORY ? EXIT_FAILED : EXIT_USAGE;
}

#endif
