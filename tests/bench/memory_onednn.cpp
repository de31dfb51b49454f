/*
 * memory_onednn.cpp - measures oneDNN's primitive cache; see memory_peers.h.
 *
 * It uses convolutions, the typical use of the cache.
 */
#include "bench/memory_peers.h"

#ifdef HAVE_ONEDNN

#include <dnnl.h>

#include <algorithm>
#include <vector>

namespace memory_bench
{

namespace
{

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

} // namespace

std::unique_ptr<Subject> make_onednn(size_t entries)
{
    return std::make_unique<Onednn>(name_with_keys("oneDNN", entries), entries);
}

std::unique_ptr<Subject> make_onednn_content(size_t entries)
{
    return std::make_unique<OnednnContent>(entries);
}

} // namespace memory_bench

#else

namespace memory_bench
{

std::unique_ptr<Subject> make_onednn(size_t)
{
    return nullptr;
}

std::unique_ptr<Subject> make_onednn_content(size_t)
{
    return nullptr;
}

} // namespace memory_bench

#endif
