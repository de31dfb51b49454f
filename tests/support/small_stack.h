/*
 * small_stack.h - runs work on a thread with a small stack, as some applications call drivers.
 */
#pragma once

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <functional>

namespace small_stack
{

/* Sanitizers and code that is not optimized need more than a release build. */
#if defined(__SANITIZE_THREAD__)
constexpr size_t kSize = 2 * 1024 * 1024; /* of which its own variables take 900 kB */
#elif defined(__SANITIZE_ADDRESS__)
constexpr size_t kSize = 512 * 1024;
#else
constexpr size_t kSize = 48 * 1024;
#endif

/* Runs the work with kSize bytes of stack, below which is a page that no thread may touch. Returns false if the thread
 * could not be started. */
inline bool run(const std::function<void()> &work)
{
    const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    void *memory = mmap(nullptr, kSize + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED || mprotect(memory, page, PROT_NONE) != 0)
        return false;
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    pthread_attr_setstack(&attributes, static_cast<char *>(memory) + page, kSize);
    const auto start = [](void *user) -> void * {
        (*static_cast<const std::function<void()> *>(user))();
        return nullptr;
    };
    const bool is_started =
        pthread_create(&thread, &attributes, start, const_cast<void *>(static_cast<const void *>(&work))) == 0;
    if (is_started)
        pthread_join(thread, nullptr);
    pthread_attr_destroy(&attributes);
    munmap(memory, kSize + page);
    return is_started;
}

} // namespace small_stack
