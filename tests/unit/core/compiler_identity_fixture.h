/*
 * compiler_identity_fixture.h - asks for the identity of a driver's compiler.
 */
#pragma once

#include <string>
#include <vector>

#include <gtest/gtest.h>

extern "C" {
#include "core/identity/device_identity.h"
}

struct Question {
    const void *function;
    std::vector<const char *> libraries; /* NULL-terminated */
};

inline ingot_status_t identify(void *state, uint32_t, ingot_identity_t *identity)
{
    const auto *question = static_cast<const Question *>(state);
    return ingot_identity_add_compiler(identity, question->function, question->libraries.data());
}

inline ingot_status_t ask(Question &question, const ingot_allocator_t *allocator, std::string *field,
                          ingot_header_memo *memo = nullptr)
{
    ingot_backend_ops_t ops = {};
    ops.identify_device = identify;
    device_identity *identity = nullptr;
    ingot_allocator_t table;
    EXPECT_EQ(INGOT_SUCCESS, memory_init(&table, allocator));
    const ingot_status_t status = device_identity_create(&identity, &table, memo, &ops, &question, 0);
    if (status != INGOT_SUCCESS)
        return status;
    bytes_reader reader;
    size_t size = 0;
    bytes_reader_init(&reader, identity->size, identity->bytes);
    const auto *name = reinterpret_cast<const char *>(bytes_get_framed(&reader, &size));
    EXPECT_EQ("compiler", std::string(name, size));
    const auto *value = reinterpret_cast<const char *>(bytes_get_framed(&reader, &size));
    field->assign(value, size);
    EXPECT_EQ(0u, bytes_left(&reader));
    device_identity_destroy(identity, &table);
    return status;
}
