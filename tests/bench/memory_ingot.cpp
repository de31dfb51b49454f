/*
 * memory_ingot.cpp - measures Ingot's in-memory cache over a backend that does nothing; see memory_ingot.h.
 */
#include "bench/memory_ingot.h"

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "support/empty_backend.h"

namespace memory_bench
{

namespace
{

constexpr const char kKernelNames[] = "add\0broadcast\0convolve\0gather\0matmul\0reduce\0softmax\0transpose";
constexpr const char *kKernel = "matmul";
constexpr ingot_source_kind_t kKind = INGOT_SOURCE_OWN_TEXT;

ingot_backend_ops_t noop_operations()
{
    ingot_backend_ops_t ops = empty_backend("noop");
    ops.get_kernel_names = [](void *, void *, ingot_sink_t *names) {
        return ingot_sink_write(names, sizeof(kKernelNames), kKernelNames);
    };
    /* Without rules, the options of the descriptors would be unknown, and equal descriptors would not share their
     * program. */
    ops.get_text_rules = [](void *, ingot_text_rules_t *rules) {
        static const char *const options[] = {"-cl-*", nullptr};
        rules->options = options;
    };
    return ops;
}

inline bool get_program(ingot_program_desc_t desc)
{
    ingot_program_t program = nullptr;
    const bool ok = ingot_program_get(&program, desc, 0) == INGOT_SUCCESS;
    ingot_program_release(program);
    return ok;
}

inline bool get_kernel(ingot_program_desc_t desc)
{
    ingot_kernel_t kernel = nullptr;
    const bool ok = ingot_kernel_get(&kernel, desc, 0, kKernel) == INGOT_SUCCESS;
    ingot_kernel_release(kernel);
    return ok;
}

/* Descriptors of one context, with their programs in the in-memory cache. */
class Descs
{
public:
    explicit Descs(size_t count) : context_(count + 1)
    {
        for (size_t i = 0; i < count; ++i) {
            descs_.push_back(context_.describe(i));
            require(get_program(descs_.back()), "a program was not built");
        }
    }
    ~Descs()
    {
        for (ingot_program_desc_t desc : descs_)
            ingot_program_desc_release(desc);
    }
    const NoopContext &context() const { return context_; }
    size_t size() const { return descs_.size(); }
    ingot_program_desc_t operator[](size_t i) const { return descs_[i]; }

private:
    NoopContext context_;
    std::vector<ingot_program_desc_t> descs_;
};

class Floor : public Subject
{
public:
    Floor() : Subject("floor") {}
    void run(unsigned thread, size_t operations) override
    {
        Line &own = lines_[thread % lines_.size()];
        for (size_t i = 0; i < operations; ++i) {
            std::atomic<long> *count = own.place.load(std::memory_order_acquire);
            count->fetch_add(1, std::memory_order_relaxed);
            count->fetch_sub(1, std::memory_order_acq_rel);
        }
    }

private:
    struct alignas(128) Line {
        std::atomic<long> count{1};
        std::atomic<std::atomic<long> *> place{&count};
    };
    std::array<Line, 64> lines_;
};

/* Requests a program or kernel through a new descriptor, which the cache must find by content. */
template <bool (*Get)(ingot_program_desc_t)> inline bool get_by_content(const NoopContext &context, size_t number)
{
    const ingot_program_desc_t desc = context.describe(number);
    const bool ok = Get(desc);
    ingot_program_desc_release(desc);
    return ok;
}

/* Requests what is in memory already. */
template <bool (*Get)(const Descs &, size_t)> class Hit : public Subject
{
public:
    Hit(const std::string &name, size_t entries) : Subject(name), descs_(entries) {}
    void run(unsigned thread, size_t operations) override
    {
        Picker picker(thread, descs_.size());
        bool ok = true;
        for (size_t i = 0; i < operations; ++i)
            ok &= Get(descs_, picker.next());
        require(ok, "a hit failed");
    }
    ~Hit() override
    {
        ingot_cache_stats_t stats = INGOT_CACHE_STATS_INIT;
        ingot_context_get_cache_stats(descs_.context().get(), &stats);
        require(stats.misses == descs_.size(), "a request did not hit");
    }

private:
    Descs descs_;
};

template <bool (*Get)(ingot_program_desc_t)> inline bool hit(const Descs &descs, size_t number)
{
    return Get(descs[number]);
}

template <bool (*Get)(ingot_program_desc_t)> inline bool hit_by_content(const Descs &descs, size_t number)
{
    return get_by_content<Get>(descs.context(), number);
}

/* Requests each of `entries` programs by content. */
void request_all(const NoopContext &context, size_t entries)
{
    for (size_t i = 0; i < entries; ++i)
        require(get_by_content<get_program>(context, i), "a program was not built");
}

class Eviction : public Subject
{
public:
    explicit Eviction(size_t entries) : Subject("ingot evict " + std::to_string(entries)), context_(entries)
    {
        run(0, entries + 1000);
    }
    void run(unsigned, size_t operations) override
    {
        bool ok = true;
        for (size_t i = 0; i < operations; ++i)
            ok &= get_by_content<get_program>(context_, next_++);
        require(ok, "a miss did not build");
    }

private:
    NoopContext context_;
    size_t next_ = 0;
};

void *count_allocate(void *user, size_t size, size_t alignment)
{
    void *memory = nullptr;
    if (posix_memalign(&memory, alignment < sizeof(void *) ? sizeof(void *) : alignment, size) != 0)
        return nullptr;
    *static_cast<size_t *>(user) += size;
    return memory;
}

void count_deallocate(void *user, void *memory, size_t size)
{
    *static_cast<size_t *>(user) -= size;
    free(memory);
}

} // namespace

NoopContext::NoopContext(size_t max_programs, const ingot_allocator_t *allocator)
{
    static const ingot_backend_ops_t ops = noop_operations();
    static const char text[] = "what all programs of this benchmark are made of\n";
    ingot_cache_capacity_t capacity = INGOT_CACHE_CAPACITY_INIT;
    ingot_context_info_t info = INGOT_CONTEXT_INFO_INIT;
    ingot_source_info_t source = INGOT_SOURCE_INFO_INIT;

    capacity.max_programs = max_programs;
    info.cache_capacity = &capacity;
    info.allocator = allocator;
    info.flags = INGOT_CONTEXT_IGNORE_ENVIRONMENT;
    source.kind = kKind;
    source.bytes = text;
    source.size = sizeof(text) - 1;
    require(ingot_context_create(&context_, &ops, this, 1, &info) == INGOT_SUCCESS, "no context");
    require(ingot_source_create(&source_, &source) == INGOT_SUCCESS, "no source");
}

NoopContext::~NoopContext()
{
    ingot_source_release(source_);
    ingot_context_release(context_);
}

ingot_program_desc_t NoopContext::describe(size_t number) const
{
    static const char options[] =
        "-cl-fast-relaxed-math -cl-mad-enable -DTILE_M=64 -DTILE_N=128 -DTILE_K=16 -DTYPE=half -DSHAPE=00000000";
    static_assert(sizeof(options) - 1 >= 100, "the options are 100 bytes long");
    char own[sizeof(options)];
    ingot_program_info_t info = INGOT_PROGRAM_INFO_INIT;
    ingot_program_desc_t desc = nullptr;

    memcpy(own, options, sizeof(own));
    for (char *digit = own + sizeof(own) - 2; number != 0; number /= 10)
        *digit-- = static_cast<char>('0' + number % 10);
    info.sources = &source_;
    info.source_count = 1;
    info.compile_options = own;
    require(ingot_program_desc_create(&desc, context_, &info) == INGOT_SUCCESS, "no descriptor");
    return desc;
}

std::unique_ptr<Subject> make_floor()
{
    return std::make_unique<Floor>();
}

std::unique_ptr<Subject> make_hit(size_t entries)
{
    return std::make_unique<Hit<hit<get_program>>>(name_with_keys("ingot hit", entries), entries);
}

std::unique_ptr<Subject> make_fast_kernel(size_t entries)
{
    return std::make_unique<Hit<hit<get_kernel>>>("ingot fast kernel", entries);
}

std::unique_ptr<Subject> make_content_hit(size_t entries)
{
    return std::make_unique<Hit<hit_by_content<get_program>>>("ingot content hit", entries);
}

std::unique_ptr<Subject> make_content_kernel(size_t entries)
{
    return std::make_unique<Hit<hit_by_content<get_kernel>>>("ingot content kernel", entries);
}

std::unique_ptr<Subject> make_eviction(size_t entries)
{
    return std::make_unique<Eviction>(entries);
}

double entry_bytes(size_t entries)
{
    size_t bytes = 0;
    const ingot_allocator_t allocator = {count_allocate, count_deallocate, &bytes};
    const NoopContext context(entries, &allocator);
    const size_t empty = bytes;

    for (int threads = 0; threads < 2; ++threads) /* two threads, so that two of the cache's stripes are used */
        std::thread([&] { request_all(context, entries); }).join();
    return static_cast<double>(bytes - empty) / static_cast<double>(entries);
}

} // namespace memory_bench
