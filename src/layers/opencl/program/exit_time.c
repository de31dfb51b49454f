/*
 * exit_time.c - determines how long storing may delay the application's end; see exit_time.h.
 */
#include "layers/opencl/program/exit_time.h"

#include <ingot/persist.h>

#include <pthread.h>

#include "layers/common/settings.h"
#include "layers/common/statistics.h"

#define NS_PER_MS 1000000u
#define SHARE 10u
#define LEAST_MS 150u

static uint64_t began_ns; /* shortly before the first program is created; written once */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* guards the following, and the store's exit time */
static uint64_t spent_in_all_ms;                          /* by flushes */

void exit_time_begin(void)
{
    began_ns = statistics_clock_ns();
}

static uint64_t share_left_ms(void)
{
    const uint64_t share_ms = (statistics_clock_ns() - began_ns) / NS_PER_MS / SHARE;
    const uint64_t most_ms = share_ms < SETTINGS_EXIT_TIME_MS ? share_ms : SETTINGS_EXIT_TIME_MS;
    const uint64_t limit_ms = most_ms > LEAST_MS ? most_ms : LEAST_MS;
    return spent_in_all_ms < limit_ms ? limit_ms - spent_in_all_ms : INGOT_NONE;
}

/* Sets the store's exit time, of which a flush has spent so much. Returns what is left of it. */
static uint64_t reduce_exit_time(ingot_storage_t store, uint64_t spent_ms)
{
    ingot_persist_settings_t settings = INGOT_PERSIST_SETTINGS_INIT;
    if (store == NULL || ingot_persist_get_settings(store, &settings) != INGOT_SUCCESS)
        return INGOT_NONE;
    spent_in_all_ms += spent_ms;
    if (settings_rest_is_stored_later())
        settings.exit_time_ms = share_left_ms();
    else if (spent_ms == 0 || settings.exit_time_ms == INGOT_NONE || settings.exit_time_ms == INGOT_UNLIMITED)
        return settings.exit_time_ms;
    else
        settings.exit_time_ms = spent_ms < settings.exit_time_ms ? settings.exit_time_ms - spent_ms : INGOT_NONE;
    (void)ingot_persist_set_settings(store, &settings);
    return settings.exit_time_ms;
}

uint64_t exit_time_spend(uint64_t spent_ms)
{
    (void)pthread_mutex_lock(&mutex);
    const uint64_t left_ms =
        reduce_exit_time(settings_local_store(), spent_ms); /* a server behind it has the same exit time */
    (void)pthread_mutex_unlock(&mutex);
    return left_ms;
}
