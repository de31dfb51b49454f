/*
 * serving.c - turns a storage on and off, and chooses its backends, while it is in use.
 */
#include "persist/storage/serving.h"

#include <ingot/backend.h>
#include <string.h>

#include "persist/base/files.h"
#include "persist/storage/events.h"
#include "persist/storage/state.h"
#include "util/process_number.h"
#include "util/quantity.h"

#define FORKED "the storage is off in this process, which was forked from the one that opened it: open another one here"

static bool is_separator(char c)
{
    return c == ',' || c == ' ';
}

bool serving_is_list(const char *list)
{
    const size_t length = strnlen(list, INGOT_PERSIST_BACKENDS_CAPACITY);
    for (size_t i = 0; i < length; ++i) {
        const char c = text_lower(list[i]);
        const bool is_first = i == 0 || is_separator(list[i - 1]);
        if (!is_separator(c) && !(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9') && c != '_' &&
            !(c == '-' && is_first && i + 1 < length && !is_separator(list[i + 1])))
            return false;
    }
    return length < INGOT_PERSIST_BACKENDS_CAPACITY;
}

static bool is_name(const char *text, size_t size, const char *name)
{
    size_t i = 0;
    while (i < size && name[i] != '\0' && text_lower(text[i]) == name[i])
        ++i;
    return i == size && name[i] == '\0';
}

/* True if a list of backends includes this one. */
static bool is_in_backend_list(const char *list, const char *backend)
{
    bool has_chosen = false; /* true if the list has a name without a minus; if so, only such backends are served */
    bool is_chosen = false;
    while (*list != '\0') {
        const size_t size = strcspn(list, ", ");
        const bool is_minus = *list == '-';
        const bool is_this = is_name(list + is_minus, size - is_minus, backend);
        if (is_minus && is_this)
            return false;
        has_chosen = has_chosen || (size != 0 && !is_minus);
        is_chosen = is_chosen || (is_this && !is_minus);
        list += size + (list[size] != '\0');
    }
    return !has_chosen || is_chosen;
}

bool storage_is_here(ingot_storage_t storage)
{
    return storage->process == process_number();
}

ingot_status_t storage_check(ingot_storage_t storage)
{
    if (storage == NULL)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "storage is NULL");
    return storage_is_here(storage) ? INGOT_SUCCESS : storage_refuse(storage, INGOT_READ_ONLY);
}

bool storage_is_on(ingot_storage_t storage)
{
    return !atomic_load_explicit(&storage->is_off, memory_order_relaxed) && storage_is_here(storage);
}

bool storage_is_first_refusal(ingot_storage_t storage)
{
    return !storage_is_here(storage) &&
           atomic_exchange_explicit(&storage->refused_in, process_number(), memory_order_relaxed) != process_number();
}

ingot_status_t storage_refuse(ingot_storage_t storage, ingot_status_t status)
{
    if (storage_is_first_refusal(storage))
        storage_tell(storage, INGOT_EVENT_STORAGE_DEGRADED, INGOT_READ_ONLY, 0, files_steady_clock_ns(), FORKED);
    return ingot_set_error_detail(status, storage_is_here(storage) ? "the storage is off" : FORKED);
}

bool storage_serves(ingot_storage_t storage, const struct ingot_context *context)
{
    char backends[INGOT_PERSIST_BACKENDS_CAPACITY];
    if (!storage_is_on(storage))
        return false;
    if (!atomic_load_explicit(&storage->has_backends, memory_order_acquire)) /* pairs with the release below */
        return true;
    serving_get_backends(storage, backends);
    return is_in_backend_list(backends, ingot_context_get_backend_name(context));
}

void serving_set_backends(ingot_storage_t storage, const char *backends)
{
    pthread_mutex_lock(&storage->settings_lock);
    memset(storage->backends, 0, sizeof(storage->backends));
    memcpy(storage->backends, backends, strlen(backends));
    atomic_store_explicit(&storage->has_backends, backends[0] != '\0', memory_order_release);
    pthread_mutex_unlock(&storage->settings_lock);
}

void serving_get_backends(ingot_storage_t storage, char backends[INGOT_PERSIST_BACKENDS_CAPACITY])
{
    pthread_mutex_lock(&storage->settings_lock);
    memcpy(backends, storage->backends, sizeof(storage->backends));
    pthread_mutex_unlock(&storage->settings_lock);
}
