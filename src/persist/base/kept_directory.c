/*
 * kept_directory.c - keeps a directory open; see kept_directory.h.
 */
#include "persist/base/kept_directory.h"

#include <errno.h>

void kept_directory_init(struct kept_directory *kept)
{
    atomic_init(&kept->fd, -1);
    atomic_init(&kept->device, 0);
    atomic_init(&kept->inode, 0);
}

int kept_directory_examine(const struct kept_directory *kept, enum kept_state *state, struct file_facts *facts)
{
    const int fd = atomic_load_explicit(&kept->fd, memory_order_acquire);
    const int result = fd >= 0 ? files_facts(fd, facts) : -EBADF;
    *state = KEPT_OPEN;
    if (result == -EBADF)
        *state = KEPT_LOST;
    else if (result == -ESTALE)
        *state = KEPT_DELETED;
    else if (result < 0)
        return result;
    else if (facts->device != atomic_load_explicit(&kept->device, memory_order_relaxed) ||
             facts->inode != atomic_load_explicit(&kept->inode, memory_order_relaxed))
        *state = KEPT_LOST;
    else if (facts->link_count == 0)
        *state = KEPT_DELETED;
    return 0;
}

bool kept_directory_is_lost(const struct kept_directory *kept)
{
    enum kept_state state;
    struct file_facts facts;
    return kept_directory_examine(kept, &state, &facts) == 0 && state == KEPT_LOST;
}

int kept_directory_replace(struct kept_directory *kept, int fd)
{
    struct file_facts facts;
    int result = files_facts(fd, &facts);
    /* a lost descriptor may have the number that `fd` just got */
    const bool is_lost = fd == atomic_load_explicit(&kept->fd, memory_order_relaxed) || kept_directory_is_lost(kept);
    if (result == 0 && !is_lost)
        result = files_replace(fd, atomic_load_explicit(&kept->fd, memory_order_relaxed));
    if (result >= 0) {
        atomic_store_explicit(&kept->device, facts.device, memory_order_relaxed);
        atomic_store_explicit(&kept->inode, facts.inode, memory_order_relaxed);
    }
    if (result >= 0 && is_lost)
        atomic_store_explicit(&kept->fd, fd, memory_order_release);
    else
        (void)files_close(fd);
    return result < 0 ? result : 0;
}

void kept_directory_end(struct kept_directory *kept)
{
    if (!kept_directory_is_lost(kept))
        (void)files_close(atomic_load_explicit(&kept->fd, memory_order_relaxed));
    atomic_store_explicit(&kept->fd, -1, memory_order_relaxed);
}
