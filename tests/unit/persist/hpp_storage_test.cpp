/*
 * hpp_storage_test.cpp - tests the C++ interfaces of the object cache and of the storages.
 */
#include <memory>

#include <ingot/object_cache.hpp>
#include <ingot/persist.hpp>

#include "support/reference_backend.h"
#include "support/store_fixture.h"

namespace
{

/* Counts its live objects. */
struct Counted {
    static int live;
    explicit Counted(int number_) : number(number_) { ++live; }
    Counted(const Counted &) = delete;
    ~Counted() { --live; }
    int number;
};
int Counted::live = 0;

constexpr ingot::object_place kPlace{"session", "shape", "name"};

TEST(HppObjectCache, SharesAndDeletesObjects)
{
    ingot::object_cache cache = ingot::object_cache::create();
    EXPECT_FALSE(cache.get_object<Counted>(kPlace));
    ingot::object<Counted> first = cache.set(kPlace, std::make_unique<Counted>(1));
    EXPECT_EQ(1, cache.get_object<Counted>(kPlace)->number);
    cache.set(kPlace, std::make_unique<Counted>(2));
    EXPECT_EQ(1, (*first).number); /* existing references stay valid */
    EXPECT_EQ(2, Counted::live);
    first.reset();
    EXPECT_EQ(1, Counted::live);
    ingot::object<Counted> taken = cache.take<Counted>(kPlace);
    EXPECT_EQ(2, taken->number);
    EXPECT_FALSE(cache.take<Counted>(kPlace));
    cache.reset();
    EXPECT_EQ(2, taken->number); /* the object outlives its cache */
    taken = {};
    EXPECT_EQ(0, Counted::live);
}

TEST(HppObjectCache, MakesAnObjectOnceAndThrowsWhatACreatorThrew)
{
    ingot::object_cache cache = ingot::object_cache::create(1);
    const auto create = [] { return std::make_unique<Counted>(3); };
    const auto refuse = []() -> std::unique_ptr<Counted> { throw std::range_error("no"); };
    EXPECT_THROW(cache.get_or_create<Counted>(kPlace, refuse), std::range_error);
    EXPECT_THROW(cache.get_or_create<Counted>(kPlace, [] { return std::unique_ptr<Counted>(); }), ingot::error);
    EXPECT_EQ(3, cache.get_or_create<Counted>(kPlace, create)->number);
    EXPECT_EQ(3, cache.get_or_create<Counted>(kPlace, refuse)->number);
    cache.set({"session", "another shape", "name"}, std::make_unique<Counted>(4));
    EXPECT_EQ(1, Counted::live);
    EXPECT_EQ(1u, cache.stats().evictions_groups);
    cache.clear("session");
    EXPECT_EQ(0, Counted::live);
}

TEST(HppObjectCache, DeletesWhatItCouldNotSet)
{
    ingot::object_cache empty;
    EXPECT_THROW(empty.set(kPlace, std::make_unique<Counted>(5)), ingot::error);
    EXPECT_EQ(0, Counted::live);
}

class HppStorage : public testing::Test
{
protected:
    HppStorage()
    {
        static const char *const target = "alpha";
        reference_info_t info{};
        info.device_count = 1;
        info.targets = &target;
        info.counts = &counts;
        ingot_context_info_t context_info = INGOT_CONTEXT_INFO_INIT;
        context_info.flags = INGOT_CONTEXT_IGNORE_ENVIRONMENT;
        context = ingot::context::create(reference_context_create, &info, &context_info);
    }

    std::string root() const { return scratch.path().string() + "/store"; }

    store_fixture::ScratchDirectory scratch;
    reference_counts_t counts{};
    ingot::context context;
};

TEST_F(HppStorage, KeepsProgramsInADirectory)
{
    const ingot::program_desc desc(context, ingot::source(REFERENCE_SOURCE_KIND, "kernel twice x 2 *\n"));
    ingot::storage store = ingot::storage::open(root());
    ingot_origin_t origin = INGOT_ORIGIN_MEMORY;
    ASSERT_TRUE(ingot::create_program(desc, store, &origin));
    EXPECT_EQ(INGOT_ORIGIN_BUILD, origin);
    store.flush();
    EXPECT_TRUE(store.flush_within(std::chrono::seconds(1)));
    ingot_persist_settings_t settings = store.settings();
    settings.store_mode = INGOT_PERSIST_STORE_NOW;
    store.set_settings(settings);
    context.clear_cache();
    ASSERT_TRUE(ingot::create_program(desc, store, &origin));
    EXPECT_EQ(INGOT_ORIGIN_STORAGE, origin);
    EXPECT_EQ(1u, store.stats().hits);
    EXPECT_EQ(1u, counts.builds);
}

TEST_F(HppStorage, MakesKernelsThroughAStorage)
{
    const ingot::program_desc desc(context, ingot::source(REFERENCE_SOURCE_KIND, "kernel twice x 2 *\n"));
    const ingot::storage store = ingot::storage::open(root());
    ingot_origin_t origin = INGOT_ORIGIN_MEMORY;
    ASSERT_TRUE(ingot::create_kernel(desc, store, "twice", 0, &origin));
    EXPECT_EQ(INGOT_ORIGIN_BUILD, origin);
    EXPECT_THROW(ingot::create_kernel(desc, store, "thrice"), ingot::error);
    const ingot::program program = ingot::create_program(desc, store, &origin);
    EXPECT_EQ(INGOT_ORIGIN_MEMORY, origin);
    EXPECT_FALSE(program.facts().is_from_cache_blob);
}

TEST_F(HppStorage, LoadsStoresAndRemovesBytes)
{
    const std::vector<uint8_t> id{1, 2, 3};
    const std::vector<uint8_t> bytes{4, 5, 6, 7};
    ingot::storage store = ingot::storage::open(root());
    EXPECT_FALSE(store.load(id));
    store.store(id, bytes);
    ingot::buffer loaded = store.load(id);
    ASSERT_TRUE(loaded);
    ingot::buffer moved = std::move(loaded);
    EXPECT_FALSE(loaded);
    const ingot::bytes_view view = moved;
    EXPECT_EQ(bytes, std::vector<uint8_t>(view.begin(), view.end()));
    EXPECT_TRUE(store.remove(id));
    EXPECT_FALSE(store.remove(id));
    EXPECT_THROW(ingot::storage::open(root() + "/no/such"), ingot::error);
    EXPECT_THROW(ingot::storage::open_bundle(root() + "/none"), ingot::error);
}

} // namespace
