/*
 * recipe_fixture.h - writers and readers of recipe files that release themselves, and functions that examine a recipe.
 */
#pragma once

#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <ingot/private/recipe.h>

#include "support/reference_context.h"

namespace recipe_fixture
{

using Writer = Handle<ingot_recipe_writer_t, ingot_recipe_writer_release>;
using Recipe = Handle<ingot_recipe_t, ingot_recipe_release>;
using Key = std::array<uint8_t, INGOT_RECIPE_KEY_SIZE>;

inline std::vector<uint8_t> read_file(const std::filesystem::path &path)
{
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

inline void write_file(const std::filesystem::path &path, const std::vector<uint8_t> &bytes)
{
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    file.write(reinterpret_cast<const char *>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

inline ingot_status_t try_open_writer(const std::filesystem::path &path, Writer *writer, uint64_t max_bytes = 0)
{
    const std::string text = path.string();
    ingot_recipe_record_info_t info = INGOT_RECIPE_RECORD_INFO_INIT;
    ingot_recipe_writer_t opened = nullptr;
    info.path = text.c_str();
    info.max_bytes = max_bytes;
    info.lock_timeout_ms = 60000;
    const ingot_status_t status = ingot_recipe_writer_open(&opened, &info);
    writer->reset(opened);
    return status;
}

inline Writer open_writer(const std::filesystem::path &path, uint64_t max_bytes = 0)
{
    Writer writer;
    EXPECT_EQ(INGOT_SUCCESS, try_open_writer(path, &writer, max_bytes)) << ingot_last_error_detail();
    return writer;
}

inline ingot_status_t record(ingot_storage_t storage, const std::filesystem::path &path, uint64_t max_bytes = 0)
{
    const std::string text = path.string();
    ingot_recipe_record_info_t info = INGOT_RECIPE_RECORD_INFO_INIT;
    info.path = text.c_str();
    info.max_bytes = max_bytes;
    info.lock_timeout_ms = 60000;
    return ingot_recipe_record(storage, &info);
}

inline ingot_status_t try_open_recipe(const std::filesystem::path &path, Recipe *recipe)
{
    ingot_recipe_t opened = nullptr;
    const ingot_status_t status = ingot_recipe_open(&opened, path.c_str(), nullptr);
    recipe->reset(opened);
    return status;
}

inline Recipe open_recipe(const std::filesystem::path &path)
{
    Recipe recipe;
    EXPECT_EQ(INGOT_SUCCESS, try_open_recipe(path, &recipe)) << ingot_last_error_detail();
    return recipe;
}

inline ingot_recipe_summary_t summary_of(const Recipe &recipe)
{
    ingot_recipe_summary_t summary = INGOT_RECIPE_SUMMARY_INIT;
    EXPECT_EQ(INGOT_SUCCESS, ingot_recipe_get_summary(recipe.get(), &summary));
    return summary;
}

inline ingot_recipe_program_t program_of(const Recipe &recipe, size_t index)
{
    ingot_recipe_program_t program = INGOT_RECIPE_PROGRAM_INIT;
    EXPECT_EQ(INGOT_SUCCESS, ingot_recipe_get_program(recipe.get(), index, &program)) << ingot_last_error_detail();
    return program;
}

inline std::string text_of(const Recipe &recipe, const ingot_recipe_text_t &text)
{
    size_t size = 0;
    EXPECT_EQ(INGOT_SUCCESS, ingot_recipe_get_text(recipe.get(), text.text, &size, nullptr));
    std::string bytes(size, '\0');
    EXPECT_EQ(INGOT_SUCCESS,
              ingot_recipe_get_text(recipe.get(), text.text, &size, reinterpret_cast<uint8_t *>(bytes.data())))
        << ingot_last_error_detail();
    return bytes;
}

inline Key add(const Writer &writer, const Desc &desc, ingot_program_t program = nullptr)
{
    Key key{};
    EXPECT_EQ(INGOT_SUCCESS, ingot_recipe_writer_add(writer.get(), desc.get(), program, key.data()))
        << ingot_last_error_detail();
    return key;
}

/* Describes a program of a recipe in a context. */
inline Desc describe(const Recipe &recipe, size_t index, ingot_context_t context)
{
    ingot_program_desc_t desc = nullptr;
    EXPECT_EQ(INGOT_SUCCESS, ingot_recipe_desc_create(&desc, recipe.get(), index, context, 0, nullptr))
        << ingot_last_error_detail();
    return Desc(desc);
}

} // namespace recipe_fixture
