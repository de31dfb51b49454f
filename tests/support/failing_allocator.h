/*
 * failing_allocator.h - an allocator that counts live blocks and fails from the n-th request on, or only at that
 * request.
 */
#pragma once

#include <atomic>
#include <cstdlib>
#include <cstring>

#include <gtest/gtest.h>
#include <ingot/ingot.h>

class FailingAllocator
{
public:
    static constexpr size_t kNever = SIZE_MAX;

    /* Fails request number fail_at (from 0) and, if all_after is set, every later one, too. */
    explicit FailingAllocator(size_t fail_at = kNever, bool all_after = false)
        : fail_at_(fail_at), all_after_(all_after)
    {
        table_ = {allocate, deallocate, this};
    }

    const ingot_allocator_t *table() const { return &table_; }
    size_t live_count() const { return live_count_; }
    size_t live_bytes() const { return live_bytes_; }
    size_t requests() const { return requests_; }
    bool failed() const { return failed_; }
    void fail_from_now(size_t after) { fail_at_ = requests_ + after; }
    void stop_failing() { fail_at_ = kNever; }

private:
    static void *allocate(void *user, size_t size, size_t alignment)
    {
        auto *self = static_cast<FailingAllocator *>(user);
        const size_t number = self->requests_++;
        const size_t fail_at = self->fail_at_;
        if (number == fail_at || (self->all_after_ && number > fail_at)) {
            self->failed_ = true;
            return nullptr;
        }
        if (alignment > 4096) /* more than ingot_allocator_t promises */
            abort();
        void *memory = nullptr;
        if (posix_memalign(&memory, alignment < sizeof(void *) ? sizeof(void *) : alignment, size) != 0)
            return nullptr;
        memset(memory, 0xa5, size); /* no code may rely on zeros */
        self->live_count_++;
        self->live_bytes_ += size;
        return memory;
    }

    static void deallocate(void *user, void *memory, size_t size)
    {
        auto *self = static_cast<FailingAllocator *>(user);
        memset(memory, 0x5a, size); /* reveals a wrong size or a use after free */
        self->live_count_--;
        self->live_bytes_ -= size;
        free(memory);
    }

    ingot_allocator_t table_;
    std::atomic<size_t> fail_at_;
    bool all_after_;
    std::atomic<size_t> requests_{0};
    std::atomic<size_t> live_count_{0};
    std::atomic<size_t> live_bytes_{0};
    std::atomic<bool> failed_{false};
};

/* Calls act(allocator) with an allocator that fails at its first request, then with one that fails at its second, and
 * so on, until none fails. Expects that each call succeeds or returns INGOT_OUT_OF_MEMORY, and that it leaves nothing.
 */
template <typename Act> void expect_clean_failures(const Act &act)
{
    for (size_t n = 0;; ++n) {
        FailingAllocator allocator(n);
        const ingot_status_t status = act(allocator.table());
        ASSERT_EQ(0u, allocator.live_count()) << "allocation " << n;
        if (!allocator.failed()) {
            ASSERT_EQ(INGOT_SUCCESS, status) << ingot_last_error_detail();
            ASSERT_LT(0u, n) << "nothing was allocated";
            return;
        }
        ASSERT_TRUE(status == INGOT_SUCCESS || status == INGOT_OUT_OF_MEMORY)
            << "allocation " << n << ": " << ingot_last_error_detail();
    }
}
