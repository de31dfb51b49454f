/*
 * memory_peers.cpp - measures other caches: std::unordered_map with a lock, a cache that most programs begin with;
 * liburcu's hash table; and oneDNN's primitive cache, with convolutions, its typical use. See memory_peers.h.
 *
 * A look-up in liburcu's table alone writes no shared memory, but its result is valid only within the read section. To
 * keep what it finds, a thread must take a reference, and the count of references is shared. So the measured operation
 * includes taking and dropping a reference.
 */
#include "bench/memory_peers.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>
#include <vector>

#ifdef HAVE_ONEDNN
#include <dnnl.h>
#endif
#ifdef HAVE_URCU
#include <urcu.h>
#include <urcu/rculfhash.h>
#endif

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

#ifdef HAVE_ONEDNN

void check(dnnl_status_t status)
{
    require(status == dnnl_success, "oneDNN failed");
}

class Onednn : public Subject
{
public:
    Onednn(const std::string &name, size_t entries) : Subject(name)
    {
        int capacity = 0; /* all subjects share the cache, which must hold all their primitives */
        check(dnnl_get_primitive_cache_capacity(&capacity));
        check(dnnl_set_primitive_cache_capacity(std::max(capacity, 16384)));
        check(dnnl_engine_create(&engine_, dnnl_cpu, 0));
        for (size_t i = 0; i < entries; ++i) {
            dnnl_primitive_t primitive = nullptr;
            descs_.push_back(describe(i));
            check(dnnl_primitive_create(&primitive, descs_.back()));
            check(dnnl_primitive_destroy(primitive));
        }
    }
    ~Onednn() override
    {
        for (dnnl_primitive_desc_t desc : descs_)
            dnnl_primitive_desc_destroy(desc);
        dnnl_engine_destroy(engine_);
    }

    void run(unsigned thread, size_t operations) override
    {
        Picker picker(thread, descs_.size());
        for (size_t i = 0; i < operations; ++i) {
            dnnl_primitive_t primitive = nullptr;
            check(dnnl_primitive_create(&primitive, descs_[picker.next()]));
            check(dnnl_primitive_destroy(primitive));
        }
    }

protected:
    dnnl_primitive_desc_t describe(size_t number) const
    {
        const dnnl_dims_t data = {1, 16, 8, static_cast<dnnl_dim_t>(8 + number)};
        const dnnl_dims_t weights = {16, 16, 3, 3};
        return make_convolution(data, weights);
    }
    size_t count() const { return descs_.size(); }

private:
#if DNNL_VERSION_MAJOR >= 3
    /* A memory descriptor that is destroyed at the end of its scope. */
    struct MemoryDesc : NotCopied {
        MemoryDesc(int ndims, const dnnl_dims_t dims, dnnl_format_tag_t tag)
        {
            check(dnnl_memory_desc_create_with_tag(&desc, ndims, dims, dnnl_f32, tag));
        }
        ~MemoryDesc() { dnnl_memory_desc_destroy(desc); }
        dnnl_memory_desc_t desc = nullptr;
    };

    dnnl_primitive_desc_t make_convolution(const dnnl_dims_t data, const dnnl_dims_t weights) const
    {
        const dnnl_dims_t ones = {1, 1}, none = {0, 0};
        const MemoryDesc in(4, data, dnnl_format_tag_any), filter(4, weights, dnnl_format_tag_any);
        dnnl_primitive_desc_t desc = nullptr;
        check(dnnl_convolution_forward_primitive_desc_create(&desc, engine_, dnnl_forward_inference,
                                                             dnnl_convolution_direct, in.desc, filter.desc, nullptr,
                                                             in.desc, ones, none, ones, ones, nullptr));
        return desc;
    }
#else
    dnnl_primitive_desc_t make_convolution(const dnnl_dims_t data, const dnnl_dims_t weights) const
    {
        const dnnl_dims_t ones = {1, 1};
        dnnl_memory_desc_t in, filter;
        dnnl_convolution_desc_t operation;
        dnnl_primitive_desc_t desc = nullptr;
        check(dnnl_memory_desc_init_by_tag(&in, 4, data, dnnl_f32, dnnl_format_tag_any));
        check(dnnl_memory_desc_init_by_tag(&filter, 4, weights, dnnl_f32, dnnl_format_tag_any));
        check(dnnl_convolution_forward_desc_init(&operation, dnnl_forward_inference, dnnl_convolution_direct, &in,
                                                 &filter, nullptr, &in, ones, ones, ones));
        check(dnnl_primitive_desc_create(&desc, &operation, nullptr, engine_, nullptr));
        return desc;
    }
#endif

    dnnl_engine_t engine_ = nullptr;
    std::vector<dnnl_primitive_desc_t> descs_;
};

class OnednnContent : public Onednn
{
public:
    explicit OnednnContent(size_t entries) : Onednn("oneDNN content", entries) {}

    void run(unsigned thread, size_t operations) override
    {
        Picker picker(thread, count());
        for (size_t i = 0; i < operations; ++i) {
            dnnl_primitive_t primitive = nullptr;
            const dnnl_primitive_desc_t desc = describe(picker.next());
            check(dnnl_primitive_create(&primitive, desc));
            check(dnnl_primitive_destroy(primitive));
            check(dnnl_primitive_desc_destroy(desc));
        }
    }
};

#endif
#ifdef HAVE_URCU

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

#endif

} // namespace

std::unique_ptr<Subject> make_map(size_t entries)
{
    return std::make_unique<Map>(entries);
}

#ifdef HAVE_ONEDNN
std::unique_ptr<Subject> make_onednn(size_t entries)
{
    return std::make_unique<Onednn>(name_with_keys("oneDNN", entries), entries);
}

std::unique_ptr<Subject> make_onednn_content(size_t entries)
{
    return std::make_unique<OnednnContent>(entries);
}
#else
std::unique_ptr<Subject> make_onednn(size_t)
{
    return nullptr;
}

std::unique_ptr<Subject> make_onednn_content(size_t)
{
    return nullptr;
}
#endif

#ifdef HAVE_URCU
std::unique_ptr<Subject> make_urcu(size_t entries)
{
    return std::make_unique<Urcu>(entries);
}
#else
std::unique_ptr<Subject> make_urcu(size_t)
{
    return nullptr;
}
#endif

} // namespace memory_bench
