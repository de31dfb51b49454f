/*
 * one_source.h - describes programs of one source.
 */
#pragma once

#include <string>

#include <gtest/gtest.h>

#include <ingot/ingot.h>

inline ingot_program_desc_t describe_one_source(ingot_context_t context, ingot_source_kind_t kind,
                                                const std::string &text)
{
    ingot_source_info_t source_info = INGOT_SOURCE_INFO_INIT;
    source_info.kind = kind;
    source_info.bytes = text.data();
    source_info.size = text.size();
    ingot_source_t source = nullptr;
    EXPECT_EQ(INGOT_SUCCESS, ingot_source_create(&source, &source_info));
    ingot_program_info_t info = INGOT_PROGRAM_INFO_INIT;
    info.sources = &source;
    info.source_count = 1;
    ingot_program_desc_t desc = nullptr;
    EXPECT_EQ(INGOT_SUCCESS, ingot_program_desc_create(&desc, context, &info)) << ingot_last_error_detail();
    ingot_source_release(source);
    return desc;
}
