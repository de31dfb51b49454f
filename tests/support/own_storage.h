/*
 * own_storage.h - tables of operations for storages that tests implement, as applications do.
 */
#pragma once

#include <ingot/storage.h>

namespace own_storage
{

inline ingot_status_t find_nothing(void *, size_t, const uint8_t *, ingot_buffer_t *)
{
    return INGOT_NOT_FOUND;
}

/* Returns a table with these operations. Without any, the storage is empty and takes nothing. */
inline ingot_storage_ops_t operations(decltype(ingot_storage_ops_t::store) store = nullptr,
                                      decltype(ingot_storage_ops_t::load) load = find_nothing,
                                      decltype(ingot_storage_ops_t::destroy) destroy = nullptr)
{
    ingot_storage_ops_t ops{};
    ops.struct_size = sizeof(ops);
    ops.load = load;
    ops.store = store;
    ops.destroy = destroy;
    return ops;
}

} // namespace own_storage
