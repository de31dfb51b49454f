/*
 * store_test.h - the base of tests that make one store each.
 */
#pragma once

#include <gtest/gtest.h>

#include "support/store_fixture.h"

namespace store_fixture
{

/* A test's scratch directory, and the place of its store there. */
class StoreTest : public testing::Test
{
protected:
    const ScratchDirectory scratch_;
    const fs::path root_ = scratch_.path() / "store";
};

} // namespace store_fixture
