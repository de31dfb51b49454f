/*
 * repeats.c - handles programs that an application builds again and again.
 *
 * If the store stores programs later, each compiled program waits in memory and keeps its native program. So a
 * program that the application compiles repeatedly is compiled each time, but waits only once.
 */
#include "layers/opencl/program/repeats.h"

#include <ingot/persist.h>

#include "cache/lock.h"
#include "layers/common/settings.h"
#include "layers/opencl/program/exit_time.h"

#define MAX_KNOWN 4096u

static uint64_t known[MAX_KNOWN]; /* hashes of ids, each at the index in its low bits; guarded by the lock */

/* Returns the FNV-1a hash of an id. If two ids have the same hash, this process does not store one of the programs. */
static uint64_t hash_id(size_t size, const uint8_t *id)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (size_t i = 0; i < size; ++i)
        hash = (hash ^ id[i]) * 0x100000001b3u;
    return hash;
}

static bool is_known(uint64_t hash)
{
    lock_take();
    const bool is_so = known[hash % MAX_KNOWN] == hash;
    lock_give();
    return is_so;
}

static void note(uint64_t hash, bool is_to_be_known)
{
    lock_take();
    known[hash % MAX_KNOWN] = is_to_be_known ? hash : 0;
    lock_give();
}

static bool is_stored(size_t id_size, const uint8_t *id)
{
    ingot_buffer_t blob = INGOT_BUFFER_INIT;
    if (ingot_storage_load(settings_store(), id_size, id, &blob) != INGOT_SUCCESS)
        return false;
    if (blob.release != NULL)
        blob.release(&blob);
    return true;
}

ingot_status_t repeats_create_program(ingot_program_t *program, ingot_program_desc_t desc, bool *is_shared)
{
    size_t size = 0;
    const uint8_t *id = NULL;
    ingot_origin_t origin = INGOT_ORIGIN_BUILD;
    ingot_status_t status = ingot_program_desc_get_cache_blob_id(desc, &size, &id);
    *is_shared = false;
    if (status != INGOT_SUCCESS)
        return status;
    const uint64_t hash = hash_id(size, id);
    if (is_known(hash) && !is_stored(size, id))
        return ingot_program_build(program, desc);
    status = ingot_persist_program_create(program, desc, settings_store(), &origin);
    *is_shared = status == INGOT_SUCCESS && origin == INGOT_ORIGIN_MEMORY;
    if (status == INGOT_SUCCESS && origin == INGOT_ORIGIN_BUILD) {
        note(hash, true);
        (void)exit_time_spend(0);
    }
    return status;
}

void repeats_remove(ingot_program_desc_t desc)
{
    size_t size = 0;
    const uint8_t *id = NULL;
    if (ingot_program_desc_get_cache_blob_id(desc, &size, &id) != INGOT_SUCCESS)
        return;
    (void)ingot_storage_remove(settings_store(), size, id);
    note(hash_id(size, id), false);
}
