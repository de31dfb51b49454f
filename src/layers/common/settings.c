/*
 * settings.c - reads the user's settings, and opens the store that they name.
 *
 * Each application has its own namespace, named after its file, so that it cannot evict what another application
 * needs.
 */
#include "layers/common/common.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <ingot/backend.h>
#include <ingot/private/event.h>

#include "util/environment.h"

#ifdef INGOT_LAYER_HAS_REMOTE
#include <ingot/remote.h>
#endif

#define MAX_NAME 64u
#define MAX_REASON 384u
#define DISABLE "INGOT_LAYER_DISABLE"
#define DELETED " (deleted)"

static _Atomic(ingot_storage_t) store;

/* Reads the variable that turns the layer off. Returns false if its value is not a switch. */
static bool read_disable(const char **text, uint64_t *is_off)
{
    *text = secure_getenv(DISABLE);
    *is_off = 0;
    return *text == NULL || **text == '\0' || environment_parse(ENVIRONMENT_SWITCH, *text, is_off);
}

bool settings_are_off(void)
{
    uint64_t is_off = 0;
    const char *text = NULL;
    return getauxval(AT_SECURE) != 0 || (read_disable(&text, &is_off) && is_off != 0);
}

/* Reports an event that says what cannot be used, and gives the thread's last error as the reason. */
static void report_unusable(ingot_event_callback_t on_event, ingot_status_t status, const char *what)
{
    char reason[MAX_REASON];
    ingot_event_t event = INGOT_EVENT_INIT;
    (void)snprintf(reason, sizeof(reason), "%s: %s", what, ingot_last_error_detail());
    event.kind = INGOT_EVENT_STORAGE_DEGRADED;
    event.status = status;
    event.reason = reason;
    on_event(&event, NULL);
}

/* Opens the store on this machine. */
static ingot_status_t open_local(ingot_storage_t *opened)
{
    char name[MAX_NAME + 1];
    ingot_persist_info_t info = INGOT_PERSIST_INFO_INIT;
    const char *text = NULL;
    uint64_t is_off = 0;
    if (!read_disable(&text, &is_off))
        return ingot_environment_refuse(DISABLE, DISABLE ": \"%.80s\" is not %s", text,
                                        environment_expected(ENVIRONMENT_SWITCH));
    /* the name of the application's file, changed where necessary to be valid as a namespace */
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
    char path[4096];
    ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);
    /* the kernel adds this to the path of a file that was replaced or deleted since the process began */
    if (length > (ssize_t)sizeof(DELETED) &&
        memcmp(path + length + 1 - sizeof(DELETED), DELETED, sizeof(DELETED) - 1) == 0)
        length -= (ssize_t)sizeof(DELETED) - 1;
    path[length > 0 ? length : 0] = '\0';
    const char *slash = strrchr(path, '/');
    const char *file = slash != NULL ? slash + 1 : path;
    size_t size = 0;
    for (; file[size] != '\0' && size < MAX_NAME - 1; ++size)
        name[size] = strchr(plain, file[size]) != NULL ? file[size] : '_';
    name[size] = '\0';
    info.name_space = name;
    info.flags = INGOT_PERSIST_FROM_ENVIRONMENT;
    ingot_status_t status = ingot_persist_open(opened, &info);
    if (status == INGOT_INVALID_ARGUMENTS && strlen(name) < MAX_NAME) {
        memcpy(name + strlen(name), "_", 2); /* the application's name may be one that a store uses itself */
        status = ingot_persist_open(opened, &info);
    }
    return status;
}

#ifdef INGOT_LAYER_HAS_REMOTE

/* If INGOT_PERSIST_REMOTE names a server, puts it behind a store. *storage is then the storage to use instead, which
 * has its own reference to the store. */
static ingot_status_t open_remote(ingot_storage_t *storage, ingot_storage_t local, ingot_event_callback_t on_event)
{
    ingot_remote_info_t info = INGOT_REMOTE_INFO_INIT;
    info.flags = INGOT_REMOTE_FROM_ENVIRONMENT;
    info.on_event = on_event;
    info.local = local;
    return ingot_remote_open(storage, &info);
}

#else

static ingot_status_t open_remote(ingot_storage_t *storage, ingot_storage_t local, ingot_event_callback_t on_event)
{
    const char *url = secure_getenv("INGOT_PERSIST_REMOTE");
    (void)storage;
    (void)local;
    (void)on_event;
    return url == NULL || *url == '\0'
               ? INGOT_SUCCESS
               : ingot_set_error_detail(INGOT_UNIMPLEMENTED, "this build of Ingot has no remote tiers");
}

#endif

void settings_open_store(const char *nothing_cached, ingot_event_callback_t on_event)
{
    ingot_storage_t opened = NULL;
    ingot_storage_t with_server = NULL;
    ingot_status_t status = open_local(&opened);
    if (status != INGOT_SUCCESS) {
        report_unusable(on_event, status, nothing_cached);
        return;
    }
    status = open_remote(&with_server, opened, on_event);
    if (status == INGOT_INVALID_ARGUMENTS && strncmp(ingot_last_error_detail(), "INGOT_", 6) != 0)
        (void)ingot_environment_refuse("INGOT_PERSIST_REMOTE", "INGOT_PERSIST_REMOTE: %s", ingot_last_error_detail());
    if (status != INGOT_SUCCESS)
        report_unusable(on_event, status, "the server of INGOT_PERSIST_REMOTE is not used");
    atomic_store_explicit(&store, with_server != NULL ? with_server : opened, memory_order_release);
}

bool settings_must_not_compile(void)
{
    static const char *const words[] = {"compile", "report", "later"};
    size_t chosen = 0;
    const char *text = secure_getenv("INGOT_ON_MISS"); /* persist tells of a wrong value */
    return text != NULL && *text != '\0' && !environment_choose(text, 3, words, &chosen);
}

ingot_storage_t settings_store(void)
{
    return atomic_load_explicit(&store, memory_order_acquire);
}
