/*
 * exit_time.c - determines how long storing may delay the application's end; see exit_time.h.
 */
#include "layers/opencl/program/exit_time.h"

#include <ingot/persist.h>

#include <stdatomic.h>

#include "layers/common/settings.h"
#include "layers/common/statistics.h"

#define NS_PER_MS 1000000u
#define SHARE 10u
#define LEAST_MS 150u

static uint64_t began_ns;                /* when the first program was created; written once */
static _Atomic uint64_t spent_in_all_ms; /* by flushes */

void exit_time_begin(void)
{
    began_ns = statistics_clock_ns();
}

static uint64_t share_left_ms(void)
{
    const uint64_t share_ms = (statistics_clock_ns() - began_ns) / NS_PER_MS / SHARE;
    const uint64_t most_ms = share_ms < SETTINGS_EXIT_TIME_MS ? share_ms : SETTINGS_EXIT_TIME_MS;
    const uint64_t limit_ms = most_ms > LEAST_MS ? most_ms : LEAST_MS;
    const uint64_t spent_ms = atomic_load_explicit(&spent_in_all_ms, memory_order_relaxed);
    return spent_ms < limit_ms ? limit_ms - spent_ms : INGOT_NONE;
}

uint64_t exit_time_update(void)
{
    ingot_persist_settings_t settings = INGOT_PERSIST_SETTINGS_INIT;
    ingot_storage_t store = settings_local_store(); /* a server behind it has the exit time of this store */
    if (store == NULL || ingot_persist_get_settings(store, &settings) != INGOT_SUCCESS)
        return INGOT_NONE;
    if (settings_rest_is_stored_later()) {
        settings.exit_time_ms = share_left_ms();
        (void)ingot_persist_set_settings(store, &settings);
    }
    return settings.exit_time_ms;
}

void exit_time_spend(uint64_t spent_ms)
{
    ingot_persist_settings_t settings = INGOT_PERSIST_SETTINGS_INIT;
    ingot_storage_t store = settings_local_store();
    (void)atomic_fetch_add_explicit(&spent_in_all_ms, spent_ms, memory_order_relaxed);
    if (settings_rest_is_stored_later()) {
        (void)exit_time_update();
        return;
    }
    if (ingot_persist_get_settings(store, &settings) != INGOT_SUCCESS || settings.exit_time_ms == INGOT_UNLIMITED)
        return;
    settings.exit_time_ms = spent_ms < settings.exit_time_ms ? settings.exit_time_ms - spent_ms : INGOT_NONE;
    (void)ingot_persist_set_settings(store, &settings);
}
