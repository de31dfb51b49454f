/*
 * storage_settings.h - changes one setting of a storage, and leaves the others as they are.
 */
#pragma once

#include <type_traits>

#include "support/held_storage.h"

template <typename Value>
ingot_status_t set_setting(ingot_storage_t storage, Value ingot_persist_settings_t::*field,
                           std::common_type_t<Value> value)
{
    ingot_persist_settings_t settings = INGOT_PERSIST_SETTINGS_INIT;
    const ingot_status_t status = ingot_persist_get_settings(storage, &settings);
    settings.*field = value;
    return status == INGOT_SUCCESS ? ingot_persist_set_settings(storage, &settings) : status;
}

inline ingot_persist_settings_t settings_of(const HeldStorage &storage)
{
    ingot_persist_settings_t settings = INGOT_PERSIST_SETTINGS_INIT;
    EXPECT_EQ(INGOT_SUCCESS, ingot_persist_get_settings(storage.get(), &settings));
    return settings;
}
