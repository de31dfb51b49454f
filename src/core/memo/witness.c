/*
 * witness.c - asks the file system, and records and confirms its answers; see witness.h.
 */
#include "core/memo/witness.h"

#include <string.h>
#include <unistd.h>

#include "core/memo/known_file.h"

enum answer_kind { ANSWER_NO_FILE = 1, ANSWER_FILE, ANSWER_NO_DIRECTORY, ANSWER_DIRECTORY, ANSWER_CURRENT };

/* A question and its answer. */
struct answer {
    enum answer_kind kind;
    const char *path; /* ends with a NUL */
    size_t path_size; /* includes the NUL */
    struct os_file_state state;
};

struct asked_directory {
    struct asked_directory *next;
    const char *path;
    bool is_there;
    struct os_file_identity identity;
};

void witness_init(struct witness *witness, const ingot_allocator_t *allocator)
{
    *witness = (struct witness){.is_lasting = true};
    bytes_writer_init(&witness->answers, allocator);
    arena_init(&witness->arena, allocator);
}

void witness_fini(struct witness *witness)
{
    arena_fini(&witness->arena);
    bytes_writer_fini(&witness->answers);
}

/* ---- writing and reading answers ---- */

static void put_answer(struct bytes_writer *answers, enum answer_kind kind, const char *path,
                       const struct os_file_state *state)
{
    bytes_put_u32(answers, (uint32_t)kind);
    bytes_put_framed(answers, strlen(path) + 1, path);
    if (kind != ANSWER_FILE && kind != ANSWER_DIRECTORY)
        return;
    bytes_put_u64(answers, state->identity.device);
    bytes_put_u64(answers, state->identity.inode);
    if (kind == ANSWER_DIRECTORY)
        return;
    bytes_put_u64(answers, state->size);
    bytes_put_u64(answers, state->modified_ns);
    bytes_put_u64(answers, state->changed_ns);
}

static void record_answer(struct witness *witness, enum answer_kind kind, const char *path,
                          const struct os_file_state *state)
{
    if (witness->files != NULL && witness->is_lasting)
        put_answer(&witness->answers, kind, path, state);
}

static bool get_answer(struct bytes_reader *reader, struct answer *answer)
{
    const uint32_t kind = bytes_get_u32(reader);
    answer->kind = (enum answer_kind)kind;
    answer->path = (const char *)bytes_get_framed(reader, &answer->path_size);
    if (kind == ANSWER_FILE || kind == ANSWER_DIRECTORY) {
        answer->state.identity.device = bytes_get_u64(reader);
        answer->state.identity.inode = bytes_get_u64(reader);
    }
    if (kind == ANSWER_FILE) {
        answer->state.size = bytes_get_u64(reader);
        answer->state.modified_ns = bytes_get_u64(reader);
        answer->state.changed_ns = bytes_get_u64(reader);
    }
    return !reader->failed && kind >= ANSWER_NO_FILE && kind <= ANSWER_CURRENT && answer->path_size != 0 &&
           memchr(answer->path, '\0', answer->path_size) == answer->path + answer->path_size - 1;
}

/* ---- asking ---- */

/* Returns the time before which a file must have changed last to be relied on. Called before the file's state is read,
 * so that the present is not later than that moment. */
static uint64_t settled_until(const struct known_files *files)
{
    const uint64_t now = os_file_clock_ns();
    return now > files->settle_ns ? now - files->settle_ns : 0;
}

static ingot_status_t read_known_file(struct witness *witness, const char *path, size_t max_size, uint64_t reading,
                                      struct known_file **file)
{
    struct known_files *files = witness->files;
    struct os_file_state state;
    if (files == NULL)
        return known_file_read(file, witness->answers.allocator, path, max_size, 0, reading);
    const uint64_t until_ns = settled_until(files);
    const ingot_status_t status = os_get_file_state(path, &state);
    if (status == INGOT_NOT_FOUND)
        return status;
    *file = status == INGOT_SUCCESS ? known_file_find(files, &state, reading) : NULL;
    if (*file != NULL && (*file)->content.size <= max_size)
        return INGOT_SUCCESS;
    known_file_release(*file);
    *file = NULL;
    return known_file_read(file, files->allocator, path, max_size, until_ns, reading);
}

ingot_status_t witness_read_file(struct witness *witness, const char *path, size_t max_size, uint64_t reading,
                                 struct known_file **file)
{
    const ingot_status_t status = read_known_file(witness, path, max_size, reading, file);
    witness->is_lasting =
        witness->is_lasting && (status == INGOT_NOT_FOUND || (status == INGOT_SUCCESS && (*file)->is_lasting));
    if (status == INGOT_NOT_FOUND)
        record_answer(witness, ANSWER_NO_FILE, path, NULL);
    else if (status == INGOT_SUCCESS)
        record_answer(witness, ANSWER_FILE, path, &(*file)->state);
    return status;
}

ingot_status_t witness_hash_file(struct witness *witness, const char *path, struct hash128 *hash)
{
    const ingot_allocator_t *allocator = witness->answers.allocator;
    struct os_file_facts facts;
    const uint64_t until_ns = witness->files != NULL ? settled_until(witness->files) : 0;
    uint8_t *part = memory_allocate_aligned(allocator, OS_FILE_PART, 64);
    if (part == NULL)
        return INGOT_OUT_OF_MEMORY;
    const ingot_status_t status = os_hash_file(path, part, hash, &facts);
    memory_free(allocator, part, OS_FILE_PART);
    witness->is_lasting = witness->is_lasting && status == INGOT_SUCCESS && known_file_is_settled(&facts, until_ns);
    if (status == INGOT_SUCCESS)
        record_answer(witness, ANSWER_FILE, path, &facts.state);
    return status;
}

bool witness_identify_directory(struct witness *witness, const char *path, struct os_file_identity *identity)
{
    const size_t path_size = strlen(path);
    if (witness->directories == NULL)
        witness->directories = arena_take(&witness->arena, WITNESS_BUCKETS * sizeof(struct asked_directory *));
    if (witness->directories == NULL)
        return false;
    struct asked_directory **bucket = &witness->directories[hash128_of(path_size, path).low % WITNESS_BUCKETS];
    struct asked_directory *asked = *bucket;
    while (asked != NULL && strcmp(asked->path, path) != 0)
        asked = asked->next;
    if (asked == NULL) {
        asked = arena_take(&witness->arena, sizeof(*asked));
        const char *copy = arena_copy(&witness->arena, path_size, path);
        if (asked == NULL || copy == NULL)
            return false;
        *asked = (struct asked_directory){.next = *bucket, .path = copy};
        asked->is_there = os_identify_directory(path, &asked->identity);
        *bucket = asked;
        const struct os_file_state state = {.identity = asked->identity};
        record_answer(witness, asked->is_there ? ANSWER_DIRECTORY : ANSWER_NO_DIRECTORY, path, &state);
    }
    *identity = asked->identity;
    return asked->is_there;
}

bool witness_get_current_directory(struct witness *witness, size_t size, char *path)
{
    const bool is_there = getcwd(path, size) != NULL;
    witness->is_lasting = witness->is_lasting && is_there;
    if (is_there)
        record_answer(witness, ANSWER_CURRENT, path, NULL);
    return is_there;
}

/* ---- asking again ---- */

static bool is_same_answer(const struct answer *answer)
{
    char path[WITNESS_PATH_SIZE];
    struct os_file_state state;
    switch (answer->kind) {
    case ANSWER_NO_FILE: return os_get_file_state(answer->path, &state) == INGOT_NOT_FOUND;
    case ANSWER_FILE:
        return os_get_file_state(answer->path, &state) == INGOT_SUCCESS &&
               memcmp(&state, &answer->state, sizeof(state)) == 0;
    case ANSWER_NO_DIRECTORY: return !os_identify_directory(answer->path, &state.identity);
    case ANSWER_DIRECTORY:
        return os_identify_directory(answer->path, &state.identity) &&
               os_is_same_file(&state.identity, &answer->state.identity);
    case ANSWER_CURRENT: return getcwd(path, sizeof(path)) != NULL && strcmp(path, answer->path) == 0;
    }
    return false;
}

void witness_put_file(struct bytes_writer *answers, const char *path)
{
    struct os_file_state state;
    const bool is_there = os_get_file_state(path, &state) == INGOT_SUCCESS;
    put_answer(answers, is_there ? ANSWER_FILE : ANSWER_NO_FILE, path, &state);
}

bool witness_confirm(size_t size, const uint8_t *answers)
{
    struct bytes_reader reader;
    struct answer answer;
    bytes_reader_init(&reader, size, answers);
    while (bytes_left(&reader) != 0) {
        if (!get_answer(&reader, &answer) || !is_same_answer(&answer))
            return false;
    }
    return !reader.failed;
}

bool witness_visit(size_t size, const uint8_t *answers, witness_visitor visit, void *user)
{
    static const char *const names[] = {"no_file", "file", "no_directory", "directory", "current_directory"};
    struct bytes_reader reader;
    struct answer answer;
    bytes_reader_init(&reader, size, answers);
    while (bytes_left(&reader) != 0) {
        if (!get_answer(&reader, &answer))
            return false;
        if (visit != NULL)
            visit(user, names[answer.kind - ANSWER_NO_FILE], answer.path);
    }
    return !reader.failed;
}
