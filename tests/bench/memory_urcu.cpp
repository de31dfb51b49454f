/*
 * memory_urcu.cpp - measures liburcu's hash table; see memory_peers.h.
 *
 * A look-up alone writes no shared memory, but its result is valid only within the read section. To keep what it finds,
 * a thread must take a reference, and the count of references is shared. So the measured operation includes taking and
 * dropping a reference.
 */
#include "bench/memory_peers.h"

#ifdef HAVE_URCU

#include <urcu.h>
#include <urcu/rculfhash.h>

#include <atomic>
#include <cstdint>
#include <vector>

namespace memory_bench
{

namespace
{

struct Node {
    cds_lfht_node link;
    uint64_t key;
    std::atomic<long> references{1};
};

Node *node_of(cds_lfht_node *link)
{
    return reinterpret_cast<Node *>(link); /* the node's first member */
}

int is_key(cds_lfht_node *link, const void *key)
{
    return node_of(link)->key == *static_cast<const uint64_t *>(key);
}

unsigned long hash_of(uint64_t key)
{
    return static_cast<unsigned long>(key * UINT64_C(0x9e3779b97f4a7c15) >> 16);
}

class Urcu : public Subject
{
public:
    explicit Urcu(size_t entries) : Subject(name_with_keys("liburcu", entries)), nodes_(entries)
    {
        size_t buckets = 64;
        while (buckets < 2 * entries)
            buckets *= 2;
        table_ = cds_lfht_new(buckets, buckets, 0, 0, nullptr);
        require(table_ != nullptr, "liburcu made no table");
        rcu_register_thread();
        rcu_read_lock();
        for (size_t i = 0; i < entries; ++i) {
            nodes_[i].key = i;
            cds_lfht_add(table_, hash_of(i), &nodes_[i].link);
        }
        rcu_read_unlock();
    }
    ~Urcu() override
    {
        rcu_read_lock();
        for (Node &node : nodes_)
            cds_lfht_del(table_, &node.link);
        rcu_read_unlock();
        synchronize_rcu();
        cds_lfht_destroy(table_, nullptr);
        rcu_unregister_thread();
    }
    void enter() override { rcu_register_thread(); }
    void leave() override { rcu_unregister_thread(); }

    void run(unsigned thread, size_t operations) override
    {
        Picker picker(thread, nodes_.size());
        for (size_t i = 0; i < operations; ++i) {
            const uint64_t key = picker.next();
            cds_lfht_iter iter;
            rcu_read_lock();
            cds_lfht_lookup(table_, hash_of(key), is_key, &key, &iter);
            Node *const node = node_of(cds_lfht_iter_get_node(&iter));
            require(node != nullptr, "liburcu lost something");
            node->references.fetch_add(1, std::memory_order_relaxed);
            rcu_read_unlock();
            node->references.fetch_sub(1, std::memory_order_acq_rel);
        }
    }

private:
    std::vector<Node> nodes_;
    cds_lfht *table_ = nullptr;
};

} // namespace

std::unique_ptr<Subject> make_urcu(size_t entries)
{
    return std::make_unique<Urcu>(entries);
}

} // namespace memory_bench

#else

namespace memory_bench
{

std::unique_ptr<Subject> make_urcu(size_t)
{
    return nullptr;
}

} // namespace memory_bench

#endif
