/*
 * id_texts.h - what the library says about ids and blobs.
 */
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <ingot/ingot.h>
#include <ingot/private/descriptor.h>

/* Returns the text of a function that takes a size and a buffer, first for the size and then for the text. */
template <typename Tell> std::string text_by(Tell tell)
{
    size_t size = 0;
    EXPECT_EQ(INGOT_SUCCESS, tell(&size, nullptr)) << ingot_last_error_detail();
    std::string text(size, ' ');
    EXPECT_EQ(INGOT_SUCCESS, tell(&size, text.data()));
    EXPECT_TRUE(!text.empty() && text.back() == '\0');
    return text.c_str();
}

inline std::string describe_id(const std::vector<uint8_t> &id)
{
    return text_by(
        [&](size_t *size, char *text) { return ingot_cache_blob_id_describe(id.size(), id.data(), size, text); });
}

inline std::string describe_blob(const std::vector<uint8_t> &blob)
{
    return text_by(
        [&](size_t *size, char *text) { return ingot_cache_blob_describe(blob.size(), blob.data(), size, text); });
}

/* Returns the fields in which two ids differ as a JSON array. */
inline std::string explain_ids(const std::vector<uint8_t> &expected, const std::vector<uint8_t> &found)
{
    std::string text = "[";
    const auto add = [](void *user, const char *path, const char *wanted, const char *stored) {
        auto &all = *static_cast<std::string *>(user);
        all += std::string(all.size() > 1 ? ", " : "") + "{\"field\": " + path + ", \"expected\": " + wanted +
               ", \"found\": " + stored + "}";
    };
    EXPECT_EQ(INGOT_SUCCESS,
              ingot_cache_blob_id_compare(expected.size(), expected.data(), found.size(), found.data(), add, &text));
    return text + "]";
}
