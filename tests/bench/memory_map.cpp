/*
 * memory_map.cpp - measures std::unordered_map with a lock, a cache that most programs begin with; see memory_peers.h.
 */
#include <cstdint>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>

#include "bench/memory_peers.h"

namespace memory_bench
{

namespace
{

class Map : public Subject
{
public:
    explicit Map(size_t entries) : Subject("unordered_map"), count_(entries)
    {
        for (size_t i = 0; i < entries; ++i)
            map_.emplace(i, std::make_shared<int>(1));
    }
    void run(unsigned thread, size_t operations) override
    {
        Picker picker(thread, count_);
        int sum = 0;
        for (size_t i = 0; i < operations; ++i) {
            std::shared_ptr<int> held;
            {
                std::shared_lock<std::shared_mutex> lock(mutex_);
                held = map_.find(picker.next())->second;
            }
            sum += *held;
        }
        require(static_cast<size_t>(sum) == operations % (UINT64_C(1) << 32), "the map lost something");
    }

private:
    std::shared_mutex mutex_;
    std::unordered_map<uint64_t, std::shared_ptr<int>> map_;
    size_t count_;
};

} // namespace

std::unique_ptr<Subject> make_map(size_t entries)
{
    return std::make_unique<Map>(entries);
}

} // namespace memory_bench
