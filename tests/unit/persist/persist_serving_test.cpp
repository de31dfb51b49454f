/*
 * Tests stores that are turned off and on, replaced or limited while they are in use.
 */
#include "support/persist_session.h"

using namespace store_fixture;

namespace
{

/* Requests a program as a new process would. Returns where the program comes from. */
ingot_origin_t origin_of(const HeldStorage &storage, int number = 0)
{
    const Session session;
    return session.create(session.describe(numbered_source(number)), storage);
}

class PersistServing : public StoreTest
{
protected:
    Store store_{root_};
};

} // namespace

TEST_F(PersistServing, AStoreThatIsOffHasNothingAndTakesNothing)
{
    ASSERT_EQ(INGOT_SUCCESS, set_setting(store_.get(), &ingot_persist_settings_t::is_off, 1));
    EXPECT_EQ(INGOT_ORIGIN_BUILD, origin_of(store_));
    EXPECT_EQ(0u, entries_of(root_).size());
    EXPECT_EQ(0u, store_.stats().misses);
    ASSERT_EQ(INGOT_SUCCESS, set_setting(store_.get(), &ingot_persist_settings_t::is_off, 0));
    EXPECT_EQ(INGOT_ORIGIN_BUILD, origin_of(store_));
    EXPECT_EQ(INGOT_ORIGIN_STORAGE, origin_of(store_));
    ASSERT_EQ(INGOT_SUCCESS, set_setting(store_.get(), &ingot_persist_settings_t::is_off, 1));
    EXPECT_EQ(INGOT_ORIGIN_BUILD, origin_of(store_));
}

TEST_F(PersistServing, ATierThatIsOffIsPassedOver)
{
    Store other(scratch_.path() / "other");
    const HeldStorage chain = chain_of({store_.get(), other.get()});
    ASSERT_EQ(INGOT_SUCCESS, set_setting(store_.get(), &ingot_persist_settings_t::is_off, 1));
    EXPECT_EQ(INGOT_ORIGIN_BUILD, origin_of(chain));
    EXPECT_EQ(0u, entries_of(root_).size());
    EXPECT_EQ(1u, entries_of(scratch_.path() / "other").size());
    EXPECT_EQ(INGOT_ORIGIN_STORAGE, origin_of(chain));
}

TEST_F(PersistServing, LimitsMayChange)
{
    const Bytes blob = random_bytes(1, 1000);
    for (int i = 0; i < 20; ++i)
        ASSERT_EQ(INGOT_SUCCESS, store_.put(bytes_of("id " + std::to_string(i)), blob));
    EXPECT_EQ(20u, entries_of(root_).size());
    ingot_persist_settings_t settings = settings_of(store_);
    EXPECT_EQ(uint64_t{1} << 30, settings.max_bytes);
    EXPECT_EQ(UINT64_MAX, settings.max_entries);
    EXPECT_EQ(UINT64_MAX, settings.max_age_ms);

    settings.max_entries = 10;
    settings.max_age_ms = 86400500;
    ASSERT_EQ(INGOT_SUCCESS, ingot_persist_set_settings(store_.get(), &settings));
    ASSERT_EQ(INGOT_SUCCESS, store_.put(bytes_of("one more"), blob));
    EXPECT_GE(10u, entries_of(root_).size());
    EXPECT_LE(1u, entries_of(root_).size());
    settings = settings_of(store_);
    EXPECT_EQ(86400500u, settings.max_age_ms);

    settings = INGOT_PERSIST_SETTINGS_INIT;
    settings.max_bytes = 5 * entry_size(7, blob.size()) / 2;
    ASSERT_EQ(INGOT_SUCCESS, ingot_persist_set_settings(store_.get(), &settings));
    ASSERT_EQ(INGOT_SUCCESS, store_.put(bytes_of("another"), blob));
    EXPECT_GE(2u, entries_of(root_).size());
    settings.max_bytes = 500;
    ASSERT_EQ(INGOT_SUCCESS, ingot_persist_set_settings(store_.get(), &settings));
    EXPECT_EQ(INGOT_NO_SPACE, store_.put(bytes_of("too large"), blob));
}

TEST_F(PersistServing, ALimitThatWasLoweredByMuchIsReachedByTheNextStore)
{
    const Bytes blob = random_bytes(1, 100);
    for (int i = 0; i < 400; ++i)
        ASSERT_EQ(INGOT_SUCCESS, store_.put(bytes_of("id " + std::to_string(i)), blob));
    ingot_persist_settings_t settings = INGOT_PERSIST_SETTINGS_INIT;
    settings.max_entries = 50;
    ASSERT_EQ(INGOT_SUCCESS, ingot_persist_set_settings(store_.get(), &settings));
    ASSERT_EQ(INGOT_SUCCESS, store_.put(bytes_of("last"), blob));
    EXPECT_GE(50u, entries_of(root_).size());
    EXPECT_EQ(INGOT_SUCCESS, store_.load(bytes_of("last")));
}

TEST_F(PersistServing, LimitsAreThoseOfADirectory)
{
    const HeldStorage chain = chain_of({store_.get()});
    ingot_persist_settings_t settings = settings_of(chain);
    EXPECT_EQ(0u, settings.max_bytes);
    settings.is_off = 1;
    settings.max_entries = INGOT_UNLIMITED;
    EXPECT_EQ(INGOT_UNIMPLEMENTED, ingot_persist_set_settings(chain.get(), &settings));
    EXPECT_EQ(0, settings_of(chain).is_off) << "all or none";
}
