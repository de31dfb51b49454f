/*
 * known_file.c - reads files, and shares their contents and scans among programs; see known_file.h.
 */
#include "core/memo/known_file.h"

#include <string.h>

/* Makes a file's key. It contains the current user and groups, because another user or the same user without a group
 * might not be allowed to read the file. */
static void make_file_key(uint8_t key[MEMO_KEY_SIZE], const struct os_file_state *state, uint64_t reading)
{
    const uint64_t others[] = {reading, os_reader()};
    _Static_assert(sizeof(*state) + sizeof(others) == MEMO_KEY_SIZE, "a file's state, its reading and its reader");
    memcpy(key, state, sizeof(*state));
    memcpy(key + sizeof(*state), others, sizeof(others));
}

static void destroy_known_file(struct memo_entry *entry)
{
    struct known_file *file = (struct known_file *)entry;
    const ingot_allocator_t *allocator = file->content.allocator;
    arena_fini(&file->arena);
    bytes_writer_fini(&file->content);
    memory_free(allocator, file, sizeof(*file));
}

bool known_file_is_settled(const struct os_file_facts *facts, uint64_t settled_until_ns)
{
    return facts->was_steady && facts->tells_changes && facts->state.changed_ns % 1000000000u != 0 &&
           facts->state.changed_ns < settled_until_ns;
}

ingot_status_t known_file_read(struct known_file **file, const ingot_allocator_t *allocator, const char *path,
                               size_t max_size, uint64_t settled_until_ns, uint64_t reading)
{
    struct os_file_facts facts = {.was_steady = false};
    struct known_file *made = memory_allocate_zeroed(allocator, sizeof(*made));
    if (made == NULL)
        return INGOT_OUT_OF_MEMORY;
    made->entry.destroy = destroy_known_file;
    atomic_init(&made->entry.references, 1);
    arena_init(&made->arena, allocator);
    bytes_writer_init(&made->content, allocator);
    ingot_status_t status = os_read_file(path, max_size, &made->content, &facts);
    if (made->content.failed)
        status = INGOT_OUT_OF_MEMORY;
    if (status != INGOT_SUCCESS) {
        known_file_release(made);
        return status;
    }
    made->state = facts.state;
    made->is_lasting = known_file_is_settled(&facts, settled_until_ns);
    make_file_key(made->entry.key, &facts.state, reading);
    digest_of(made->content.size, made->content.bytes, made->digest);
    *file = made;
    return INGOT_SUCCESS;
}

struct known_file *known_file_find(struct known_files *files, const struct os_file_state *state, uint64_t reading)
{
    uint8_t key[MEMO_KEY_SIZE];
    make_file_key(key, state, reading);
    return (struct known_file *)memo_table_find(&files->table, key);
}

void known_file_share(struct known_files *files, struct known_file *file)
{
    if (files == NULL || !file->is_lasting || file->scan == NULL || file->arena.failed)
        return;
    file->entry.cost = sizeof(*file) + file->content.capacity + arena_size(&file->arena);
    memo_table_put(&files->table, &file->entry);
}

void known_file_release(struct known_file *file)
{
    if (file != NULL)
        memo_entry_release(&file->entry);
}
