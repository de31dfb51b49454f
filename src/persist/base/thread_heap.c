/*
 * thread_heap.c - memory, ahead, for what a thread of ours will have a driver allocate.
 *
 * glibc gives a thread a heap of its own, and makes it larger by a page or a few whenever it is full: each time a
 * system call that locks the address space, against those of other threads, and up to a tenth of the time of threads
 * that load programs. A heap that was large once stays usable without asking, and what was not touched takes no memory.
 * So a few megabytes are allocated and freed at once. It is a hint: with another C library or allocator, or where the
 * application has fixed what comes from the heap (M_MMAP_THRESHOLD), it does nothing of use, and no harm.
 *
 * Tried, and worse: large pages. They save the page faults, which are a third of a load, but are not to be had at once
 * where the machine has been running for a while.
 */
#include "persist/base/thread_heap.h"

#include <stdlib.h>

#define MAX_RESERVE ((size_t)4 << 20)
#define MIN_RESERVE ((size_t)256 << 10)

static void touch_heap(size_t size)
{
    void *volatile block = malloc(size); /* volatile: or a compiler takes the two for nothing */
    free(block);
}

void thread_heap_expect(struct thread_heap *heap, size_t now_bytes, size_t all_bytes)
{
    const size_t size = all_bytes < MAX_RESERVE ? all_bytes : MAX_RESERVE;
    if (heap->left_bytes < now_bytes && size >= MIN_RESERVE) {
        /* Twice: the first may come from the system, whereupon glibc takes what is not larger from the heap. */
        touch_heap(size);
        touch_heap(size - size / 16);
        heap->left_bytes = size;
    }
    heap->left_bytes -= now_bytes < heap->left_bytes ? now_bytes : heap->left_bytes;
}
