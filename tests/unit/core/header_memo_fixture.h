/*
 * header_memo_fixture.h - resolves includes with a header memo (which remembers earlier resolutions), as a context
 * does, and without one.
 */
#pragma once

#include <ctime>

#include "support/probes_keeper.h"
#include "unit/core/hermetic_fixture.h"

extern "C" {
#include "core/memo/header_memo.h"
}

namespace hermetic_fixture
{

inline ingot_allocator_t default_allocator()
{
    ingot_allocator_t allocator;
    EXPECT_EQ(INGOT_SUCCESS, memory_init(&allocator, nullptr));
    return allocator;
}

/* A header memo. By default, it relies on a file as soon as the file system's clock has advanced. */
class Memo
{
public:
    explicit Memo(uint64_t settle_ns = 0)
    {
        EXPECT_EQ(INGOT_SUCCESS, header_memo_create(&memo_, &allocator_, settle_ns));
    }
    /* A memo whose probes the keeper keeps. */
    explicit Memo(Keeper &keeper, uint64_t settle_ns = 0) : Memo(settle_ns) { keeper.keep_for(memo_); }
    ~Memo() { header_memo_release(memo_); }

    std::atomic<size_t> looked_up{0};
    struct ingot_header_memo *get() { return memo_; }

    Result resolve(const Input &input)
    {
        const std::string key = key_of(input);
        const auto *key_bytes = reinterpret_cast<const uint8_t *>(key.data());
        struct hermetic hermetic;
        Result result = {};
        hermetic_init(&hermetic, &allocator_);
        if (header_memo_lookup(memo_, key_bytes, &hermetic.digests)) {
            ++looked_up;
        } else {
            result = resolve_anew(input, &hermetic);
            if (result.reason.empty())
                header_memo_learn(memo_, key_bytes, &hermetic.witness, &hermetic.digests);
        }
        result.digests.assign(reinterpret_cast<const char *>(hermetic.digests.bytes), hermetic.digests.size);
        hermetic_fini(&hermetic);
        return result;
    }

private:
    static std::string key_of(const Input &input)
    {
        std::string all = input.options + '\0' + std::to_string(input.kind) + '\0' +
                          std::to_string(input.rules.current_directory) + '\0' +
                          std::to_string(input.rules.option_quotes) + '\0';
        for (const auto &list : {input.sources, input.headers}) {
            for (const auto &[name, text] : list)
                all += name + '\0' + text + '\0';
            all += '\1';
        }
        return digest(all);
    }

    Result resolve_anew(const Input &input, struct hermetic *hermetic)
    {
        const Views views(input);
        header_memo_watch(memo_, &hermetic->witness);
        Result result = {};
        result.status = views.resolve(hermetic);
        EXPECT_EQ(INGOT_SUCCESS, result.status);
        result.reason = hermetic->reason != nullptr ? hermetic->reason : "";
        return result;
    }

    ingot_allocator_t allocator_ = default_allocator();
    struct ingot_header_memo *memo_ = nullptr;
};

/* Waits until the file system's clock passes the present time. Every later change then gets a later time than all
 * earlier ones, even if the kernel took their times from a finer clock. */
inline void let_clock_advance()
{
    timespec now = {};
    clock_gettime(CLOCK_REALTIME, &now);
    while (os_file_clock_ns() <= static_cast<uint64_t>(now.tv_sec) * 1000000000u + static_cast<uint64_t>(now.tv_nsec)) {
    }
}

} // namespace hermetic_fixture
