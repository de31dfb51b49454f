/*
 * thread_heap.h - memory, ahead, for what a thread of ours will have a driver allocate.
 */
#ifndef INGOT_PERSIST_BASE_THREAD_HEAP_H
#define INGOT_PERSIST_BASE_THREAD_HEAP_H

#include <stddef.h>

/* What is thought to be left of what one thread reserved; 0 at first. */
struct thread_heap {
    size_t left_bytes;
};

/* About now_bytes are to be allocated by the calling thread, and from now on all_bytes in the end. */
void thread_heap_expect(struct thread_heap *heap, size_t now_bytes, size_t all_bytes);

#endif
