/*
 * wishes.c - keeps wishes in a directory store: a file for each program that someone wants, see doc/builders.md.
 *
 * The content of a file is an id, and its name the id's checksum, so a file is whole or useless. Several processes may
 * leave, read and remove a wish at once: a rename and an unlink decide.
 */
#include "persist/directory/state.h"

#include <ingot/backend.h>
#include <ingot/private/wish.h>
#include <stdio.h>
#include <string.h>

#include "persist/base/base.h"
#include "persist/storage/storage.h"
#include "util/hex.h"
#include "util/nanoseconds.h"

#define MOST_WISHES 4096u
#define MOST_UNCOUNTED 32u
#define FRESH_NS (60 * NS_PER_SECOND)     /* a younger wish is not renewed */
#define TOO_OLD_NS (3600 * NS_PER_SECOND) /* an older one is removed */
#define NAME_DIGITS (2 * (size_t)CHECKSUM_SIZE)

/* The folder of a store's wishes, open for one operation. */
struct folder {
    struct root root;
    int fd; /* -1: not open */
    size_t wish_count;
};

static void close_folder(struct folder *folder)
{
    if (folder->fd >= 0)
        (void)files_close(folder->fd);
    root_close(&folder->root);
}

/* Opens the folder. The caller closes it, even on failure. Returns INGOT_NOT_FOUND if it is missing, and not made. */
static ingot_status_t open_folder(struct directory *directory, bool makes, struct folder *folder)
{
    char path[PATH_CAPACITY];
    *folder = (struct folder){{NULL, -1, 0}, -1, 0};
    if (directory->is_read_only)
        return ingot_set_error_detail(INGOT_READ_ONLY, "the store was opened read-only");
    ingot_status_t status = root_open(directory, makes, &folder->root);
    paths_in_name_space(path, directory->name_space, PATHS_WANTED);
    if (status == INGOT_SUCCESS && makes && directory->name_space[0] != '\0')
        status = root_make_directory(&folder->root, directory->name_space, false);
    if (status == INGOT_SUCCESS)
        status = makes ? root_make_directory(&folder->root, path, false) : root_check_directory(&folder->root, path);
    if (status != INGOT_SUCCESS)
        return status;
    folder->fd = files_open_place(folder->root.fd, path);
    if (folder->fd == -ENOENT && !makes)
        return INGOT_NOT_FOUND; /* it was removed meanwhile */
    return folder->fd >= 0 ? INGOT_SUCCESS : files_write_failed(folder->fd, "opening", path);
}

/* Does the same for the folder of a storage. */
static ingot_status_t open_folder_of(ingot_storage_t storage, struct folder *folder)
{
    *folder = (struct folder){{NULL, -1, 0}, -1, 0};
    const ingot_status_t status = storage_check(storage);
    if (status != INGOT_SUCCESS)
        return status;
    if (directory_of(storage) == NULL)
        return ingot_set_error_detail(INGOT_UNIMPLEMENTED, "the storage is not a directory store");
    return open_folder(directory_of(storage), true, folder);
}

static void name_wish(char name[NAME_DIGITS + 1], size_t id_size, const uint8_t *id)
{
    const struct checksum hash = checksum_of(id_size, id);
    hex_put(name, sizeof(hash.bytes), hash.bytes);
    name[NAME_DIGITS] = '\0';
}

static bool is_wish_name(const char *name)
{
    return strspn(name, "0123456789abcdef") == NAME_DIGITS && name[NAME_DIGITS] == '\0';
}

/* Returns false if there is no file of this name, or another user's, which is left alone. */
static bool find_own(const struct folder *folder, const char *name, struct file_facts *facts, uint64_t *age_ns)
{
    if (files_facts_at(folder->fd, name, facts) < 0 || !files_are_own(facts, folder->root.directory->owner))
        return false;
    *age_ns = directory_age_ns(files_wall_clock_ns(), facts->modified_ns);
    return true;
}

/* ---- leaving ---- */

static bool count_wish(void *user, const char *name)
{
    struct folder *folder = user;
    (void)name;
    return ++folder->wish_count < MOST_WISHES;
}

static bool remove_old_wish(void *user, const char *name)
{
    struct folder *folder = user;
    struct file_facts facts;
    uint64_t age_ns = 0;
    /* or what a killed process has left */
    if ((is_wish_name(name) || paths_is_temporary(name)) && find_own(folder, name, &facts, &age_ns) &&
        age_ns > TOO_OLD_NS && files_remove(folder->fd, name) == 0)
        folder->wish_count -= folder->wish_count != 0;
    return true;
}

/* A store counts the wishes again when it has left an eighth of those for which there was room, at most MOST_UNCOUNTED,
 * and those of a full folder once per second. So several stores together may leave a few more than MOST_WISHES. */
static ingot_status_t find_room(struct folder *folder)
{
    struct directory *directory = folder->root.directory;
    const uint64_t now_ns = files_steady_clock_ns();
    unsigned room = atomic_load_explicit(&directory->wish_room, memory_order_relaxed);
    if (room == 0 && now_ns >= atomic_load_explicit(&directory->wish_count_ns, memory_order_relaxed)) {
        (void)files_list(folder->fd, ".", count_wish, folder);
        if (folder->wish_count == MOST_WISHES)
            (void)files_list(folder->fd, ".", remove_old_wish, folder);
        room = (MOST_WISHES - (unsigned)folder->wish_count + 7) / 8;
        if (room > MOST_UNCOUNTED)
            room = MOST_UNCOUNTED;
        atomic_store_explicit(&directory->wish_count_ns, room == 0 ? now_ns + NS_PER_SECOND : 0, memory_order_relaxed);
    }
    if (room == 0)
        return ingot_set_error_detail(INGOT_NO_SPACE, "the store has %u wishes already", MOST_WISHES);
    atomic_store_explicit(&directory->wish_room, room - 1, memory_order_relaxed);
    return INGOT_SUCCESS;
}

ingot_status_t wishes_look(void *self, size_t id_size, const uint8_t *id)
{
    struct folder folder;
    struct file_facts facts;
    char name[NAME_DIGITS + 1];
    uint64_t age_ns = 0;
    const enum build_lock_state lock = build_lock_look(self, id_size, id);
    if (lock == BUILD_LOCK_POINTLESS)
        return ingot_set_error_detail(INGOT_BUILD_FAILED, "the program could not be compiled or stored just now");
    if (lock == BUILD_LOCK_BUSY)
        return ingot_set_error_detail(INGOT_BUSY, "another process compiles the program");
    ingot_status_t status = open_folder(self, false, &folder);
    name_wish(name, id_size, id);
    if (status == INGOT_SUCCESS && find_own(&folder, name, &facts, &age_ns) && age_ns < FRESH_NS)
        status = ingot_set_error_detail(INGOT_BUSY, "the program is wished for already");
    close_folder(&folder);
    return status == INGOT_NOT_FOUND ? INGOT_SUCCESS : status;
}

ingot_status_t wishes_leave(void *self, size_t id_size, const uint8_t *id)
{
    struct folder folder;
    char name[NAME_DIGITS + 1];
    if (id_size == 0 || id_size > INGOT_WISH_MAX_SIZE)
        return ingot_set_error_detail(INGOT_INVALID_ARGUMENTS, "a wish has 1 to %d bytes", INGOT_WISH_MAX_SIZE);
    ingot_status_t status = open_folder(self, true, &folder);
    name_wish(name, id_size, id);
    if (status == INGOT_SUCCESS)
        status = find_room(&folder);
    if (status == INGOT_SUCCESS) {
        char path[PATH_CAPACITY];
        paths_temporary(path, ".", files_random());
        const int fd = files_create(folder.fd, path, false);
        int result = fd < 0 ? fd : id_size <= files_size_limit() ? files_write(fd, 0, id_size, id) : -EFBIG;
        if (fd >= 0)
            (void)files_close(fd);
        if (result == 0)
            result = files_rename(folder.fd, path, folder.fd, name);
        if (result < 0 && fd >= 0)
            (void)files_remove(folder.fd, path);
        status = result == 0 ? INGOT_SUCCESS : files_write_failed(result, "writing a wish to", path);
    }
    close_folder(&folder);
    return status;
}

/* ---- taking ---- */

struct visit {
    struct folder *folder;
    ingot_wish_visitor_t visit;
    void *user;
    uint8_t *bytes; /* INGOT_WISH_MAX_SIZE + 1 */
};

/* Reads a file into `bytes`. Sets *is_bad if a file of this user is not a wish. Returns 0 if it is none. */
static size_t read_wish(const struct visit *visit, const char *name, bool *is_bad)
{
    struct file_facts facts;
    char expected[NAME_DIGITS + 1];
    size_t size = 0;
    const int fd = files_open_read(visit->folder->fd, name);
    if (fd < 0)
        return 0;
    const bool is_own = files_facts(fd, &facts) == 0 && files_are_own(&facts, visit->folder->root.directory->owner);
    const bool is_read = is_own && facts.is_file && facts.is_closed &&
                         files_read(fd, 0, INGOT_WISH_MAX_SIZE + 1, visit->bytes, &size) == 0;
    (void)files_close(fd);
    name_wish(expected, is_read ? size : 0, visit->bytes);
    const bool is_wish = is_read && size != 0 && size <= INGOT_WISH_MAX_SIZE && strcmp(name, expected) == 0;
    *is_bad = is_own && !is_wish;
    return is_wish ? size : 0;
}

static bool visit_wish(void *user, const char *name)
{
    const struct visit *visit = user;
    struct file_facts facts;
    uint64_t age_ns = 0;
    if (!is_wish_name(name) || !find_own(visit->folder, name, &facts, &age_ns))
        return true;
    bool is_useless = age_ns > TOO_OLD_NS || !facts.is_file;
    const size_t size = is_useless ? 0 : read_wish(visit, name, &is_useless);
    if (is_useless)
        (void)files_remove(visit->folder->fd, name);
    return size == 0 || visit->visit(visit->user, size, visit->bytes);
}

ingot_status_t ingot_persist_visit_wishes(ingot_storage_t storage, ingot_wish_visitor_t visit, void *user)
{
    struct folder folder;
    ingot_status_t status = open_folder_of(storage, &folder);
    struct visit visiting = {&folder, visit, user, NULL};
    if (status == INGOT_SUCCESS) {
        visiting.bytes = memory_allocate(&folder.root.directory->allocator, INGOT_WISH_MAX_SIZE + 1);
        const int result = visiting.bytes != NULL ? files_list(folder.fd, ".", visit_wish, &visiting) : -ENOMEM;
        if (result < 0)
            status = files_read_failed(result, "reading", PATHS_WANTED);
        memory_free(&folder.root.directory->allocator, visiting.bytes, INGOT_WISH_MAX_SIZE + 1);
    }
    close_folder(&folder);
    return status;
}

ingot_status_t ingot_persist_take_wish(ingot_storage_t storage, size_t id_size, const uint8_t *id)
{
    struct folder folder;
    char name[NAME_DIGITS + 1];
    ingot_status_t status = open_folder_of(storage, &folder);
    if (status == INGOT_SUCCESS) {
        name_wish(name, id_size, id);
        const int result = files_remove(folder.fd, name);
        if (result == -ENOENT)
            status = ingot_set_error_detail(INGOT_NOT_FOUND, "there is no such wish");
        else if (result < 0)
            status = files_write_failed(result, "removing", name);
    }
    close_folder(&folder);
    return status;
}

ingot_status_t ingot_persist_leave_wish(ingot_storage_t storage, size_t id_size, const uint8_t *id)
{
    const ingot_status_t status = storage_check(storage);
    if (status != INGOT_SUCCESS)
        return status;
    return directory_of(storage) != NULL
               ? wishes_leave(directory_of(storage), id_size, id)
               : ingot_set_error_detail(INGOT_UNIMPLEMENTED, "the storage is not a directory store");
}

ingot_status_t ingot_persist_get_wish_folder(ingot_storage_t storage, size_t capacity, char *path)
{
    struct folder folder;
    char below[PATH_CAPACITY];
    ingot_status_t status = open_folder_of(storage, &folder);
    if (status == INGOT_SUCCESS) {
        const struct directory *directory = folder.root.directory;
        paths_in_name_space(below, directory->name_space, PATHS_WANTED);
        if ((size_t)snprintf(path, capacity, "%s/%s", directory->path, below) >= capacity)
            status = ingot_set_error_detail(INGOT_BUFFER_TOO_SMALL, "the path of the wishes is too long");
    }
    close_folder(&folder);
    return status;
}
