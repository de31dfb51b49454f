/*
 * id_texts.h - what the library says about ids.
 */
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <ingot/ingot.h>
#include <ingot/private/descriptor.h>

inline std::string describe_id(const std::vector<uint8_t> &id)
{
    size_t size = 0;
    EXPECT_EQ(INGOT_SUCCESS, ingot_cache_blob_id_describe(id.size(), id.data(), &size, nullptr))
        << ingot_last_error_detail();
    std::string text(size, '\0');
    EXPECT_EQ(INGOT_SUCCESS, ingot_cache_blob_id_describe(id.size(), id.data(), &size, text.data()));
    text.pop_back();
    return text;
}

inline std::string explain_ids(const std::vector<uint8_t> &expected, const std::vector<uint8_t> &found)
{
    size_t size = 0;
    EXPECT_EQ(INGOT_SUCCESS, ingot_cache_blob_id_explain(expected.size(), expected.data(), found.size(), found.data(),
                                                         &size, nullptr));
    std::string text(size, '\0');
    EXPECT_EQ(INGOT_SUCCESS, ingot_cache_blob_id_explain(expected.size(), expected.data(), found.size(), found.data(),
                                                         &size, text.data()));
    text.pop_back();
    return text;
}
