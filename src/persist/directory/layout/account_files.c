/*
 * account_files.c - opens size.txt and index.bin of a namespace, separately for each use.
 *
 * A lock belongs to the open file. Each thread that needs the lock therefore opens the files for itself, so that
 * threads exclude each other as processes do. After a use, the files are kept open for the next one, but only if they
 * are in the store's own namespace. Only the process that opened them uses them again, and only while their names still
 * refer to them, and the application has not closed their descriptors.
 */
#include "persist/directory/layout/account_files.h"

#include <errno.h>
#include <string.h>

#include "persist/base/files.h"

#define SIZE_NAME "size.txt"
#define INDEX_NAME "index.bin"

enum account_use { ACCOUNT_EMPTY, ACCOUNT_IDLE, ACCOUNT_TAKEN };

void account_files_path(char path[PATH_CAPACITY], const char *name_space, const char *name)
{
    if (name_space[0] == '\0')
        memcpy(path, name, strlen(name) + 1);
    else
        paths_join(path, name_space, name);
}

/* Copies all fields except `use`. */
static void copy_files(struct account_files *to, const struct account_files *from)
{
    to->size = from->size;
    to->index = from->index;
    to->process = from->process;
    to->size_bytes = from->size_bytes;
    to->finished = from->finished;
}

static void close_files(struct account_files *files)
{
    kept_file_end(&files->size);
    kept_file_end(&files->index);
}

static struct account_files *take(struct directory *directory, int wanted)
{
    for (unsigned i = 0; i < ACCOUNT_KEPT; ++i) {
        int found = wanted;
        if (atomic_compare_exchange_strong_explicit(&directory->kept[i].use, &found, ACCOUNT_TAKEN,
                                                    memory_order_acquire, memory_order_relaxed))
            return &directory->kept[i];
    }
    return NULL;
}

static void put_back(struct account_files *kept, int use)
{
    atomic_store_explicit(&kept->use, use, memory_order_release);
}

static int open_file(const struct directory *directory, const char *path, struct kept_file *file,
                     struct file_facts *facts)
{
    const int fd = files_open_update(directory->root.fd, path);
    int result = fd < 0 ? fd : files_keep(fd, file);
    if (result < 0)
        return result;
    result = files_facts(fd, facts);
    if (result == 0 && facts->is_file)
        return 0;
    kept_file_end(file);
    return result < 0 ? result : -ELOOP;
}

static ingot_status_t open_files(const struct directory *directory, const char *name_space, struct account_files *files)
{
    char path[PATH_CAPACITY];
    struct file_facts facts;
    account_files_path(path, name_space, SIZE_NAME);
    int result = open_file(directory, path, &files->size, &facts);
    if (result < 0)
        return files_write_failed(result, "opening", path);
    files->size_bytes = facts.size_bytes;
    account_files_path(path, name_space, INDEX_NAME);
    result = open_file(directory, path, &files->index, &facts);
    if (result < 0) {
        kept_file_end(&files->size);
        return files_write_failed(result, "opening", path);
    }
    files->process = files_process();
    return INGOT_SUCCESS;
}

/* True if the descriptor is still Ingot's, and a name still refers to the open file. In the root, the file can only
 * have been deleted. In a namespace, the namespace's directory may also have been moved. */
static bool is_current(const struct directory *directory, const struct kept_file *file, const char *name,
                       struct file_facts *facts)
{
    char path[PATH_CAPACITY];
    if (files_facts(file->fd, facts) < 0 || !kept_file_is(file, facts->device, facts->inode) || facts->link_count == 0)
        return false;
    if (directory->name_space[0] == '\0')
        return true;
    account_files_path(path, directory->name_space, name);
    return files_facts_at(directory->root.fd, path, facts) == 0 && facts->is_file && facts->inode == file->inode;
}

static bool are_current(const struct directory *directory, struct account_files *files)
{
    struct file_facts facts;
    if (!is_current(directory, &files->index, INDEX_NAME, &facts) ||
        !is_current(directory, &files->size, SIZE_NAME, &facts))
        return false;
    files->size_bytes = facts.size_bytes;
    return true;
}

/* Takes a free set of kept files. If their names still refer to them, sets *is_open to true. Otherwise closes them, and
 * sets *is_open to false. If no set is free, takes an empty place in which to keep files, with *is_open set to false.
 * Returns NULL if there is no empty place, or if the kept files are the parent's: a forked child does not use them, and
 * closes them only when it closes the store. */
static struct account_files *take_kept(struct directory *directory, bool *is_open)
{
    struct account_files *kept = take(directory, ACCOUNT_IDLE);
    *is_open = false;
    if (kept == NULL)
        return take(directory, ACCOUNT_EMPTY);
    if (kept->process != files_process()) {
        put_back(kept, ACCOUNT_IDLE);
        return NULL;
    }
    *is_open = are_current(directory, kept);
    if (!*is_open)
        close_files(kept);
    return kept;
}

ingot_status_t account_files_get(struct directory *directory, const char *name_space, struct open_account_files *open)
{
    bool is_open = false;
    const bool is_own = strcmp(name_space, directory->name_space) == 0;
    open->kept = is_own ? take_kept(directory, &is_open) : NULL;
    if (is_open) {
        copy_files(&open->files, open->kept);
        return INGOT_SUCCESS;
    }
    open->files.finished = 0;
    const ingot_status_t status = open_files(directory, name_space, &open->files);
    if (status != INGOT_SUCCESS && open->kept != NULL)
        put_back(open->kept, ACCOUNT_EMPTY);
    return status;
}

void account_files_give(struct open_account_files *open)
{
    if (open->kept == NULL) {
        close_files(&open->files);
        return;
    }
    copy_files(open->kept, &open->files);
    put_back(open->kept, ACCOUNT_IDLE);
}

int account_files_borrow_index(struct directory *directory, struct account_files **kept)
{
    char path[PATH_CAPACITY];
    struct file_facts facts;
    *kept = take(directory, ACCOUNT_IDLE);
    if (*kept != NULL && (*kept)->process == files_process() &&
        is_current(directory, &(*kept)->index, INDEX_NAME, &facts))
        return (*kept)->index.fd;
    if (*kept != NULL)
        put_back(*kept, ACCOUNT_IDLE);
    *kept = NULL;
    account_files_path(path, directory->name_space, INDEX_NAME);
    return directory->is_read_only ? files_open_read(directory->root.fd, path)
                                   : files_open_read_write(directory->root.fd, path);
}

void account_files_return_index(struct account_files *kept, int index_fd)
{
    if (kept != NULL)
        put_back(kept, ACCOUNT_IDLE);
    else
        (void)files_close(index_fd);
}

void account_files_fini(struct directory *directory)
{
    for (unsigned i = 0; i < ACCOUNT_KEPT; ++i)
        if (atomic_load_explicit(&directory->kept[i].use, memory_order_acquire) == ACCOUNT_IDLE)
            close_files(&directory->kept[i]);
}
