/*
 * forged_recipe.h - makes recipes whose records contain whatever a test wants.
 */
#pragma once

#include <string>
#include <vector>

#include "support/recipe_fixture.h"

extern "C" {
#include "persist/base/memory.h"
#include "persist/recipe/format/record.h"
#include "util/little_endian.h"
}

namespace forged_recipe
{

using Bytes = std::vector<uint8_t>;
using recipe_fixture::Key;

inline Bytes u32(uint32_t value)
{
    Bytes bytes(4);
    le_put_u32(bytes.data(), value);
    return bytes;
}

inline Bytes text(const std::string &value)
{
    return {value.begin(), value.end()};
}

inline Bytes join(const std::vector<Bytes> &parts)
{
    Bytes bytes;
    for (const Bytes &part : parts)
        bytes.insert(bytes.end(), part.begin(), part.end());
    return bytes;
}

inline Bytes field(uint32_t tag, const Bytes &value)
{
    return join({u32(tag), u32(static_cast<uint32_t>(value.size())), value});
}

inline Key key_of(const Bytes &content)
{
    Key key{};
    recipe_digest(content.size(), content.data(), key.data());
    return key;
}

inline Bytes reference(const Bytes &content)
{
    const Key key = key_of(content);
    Bytes size(8);
    le_put_u64(size.data(), content.size());
    return join({Bytes(key.begin(), key.end()), size});
}

inline Bytes source_field(const Bytes &content, uint32_t kind = REFERENCE_SOURCE_KIND)
{
    return field(3, join({u32(kind), reference(content), u32(0), u32(0)}));
}

inline Bytes record(recipe_record_kind kind, const Key &key, const Bytes &content)
{
    ingot_allocator_t allocator;
    bytes_writer buffer;
    memory_init(&allocator, nullptr);
    bytes_writer_init(&buffer, &allocator);
    recipe_record_put(&buffer, kind, key.data(), content.size(), content.data());
    const Bytes bytes(buffer.bytes, buffer.bytes + buffer.size);
    bytes_writer_fini(&buffer);
    return bytes;
}

inline Bytes record(recipe_record_kind kind, const Bytes &content)
{
    return record(kind, key_of(content), content);
}

/* Returns a file of these records. */
inline Bytes recipe_of(const std::vector<Bytes> &records)
{
    Bytes header(RECIPE_HEADER_SIZE);
    recipe_put_header(header.data());
    return join({header, join(records)});
}

} // namespace forged_recipe
