/*
 * program_desc_from_id_test.cpp - tests which ids a descriptor can be made from, and which are refused before anything
 * is loaded.
 */
#include <algorithm>
#include <cstdlib>

#include <ingot/artifact.h>

#include "support/failing_allocator.h"
#include "support/reference_context.h"

namespace
{

using Bytes = std::vector<uint8_t>;

ingot_status_t try_describe(const Context &context, const Bytes &id, Desc *desc = nullptr)
{
    ingot_program_desc_t made = nullptr;
    const ingot_status_t status =
        ingot_program_desc_create_from_cache_blob_id(&made, context.get(), id.size(), id.data());
    EXPECT_EQ(status == INGOT_SUCCESS, made != nullptr);
    const Desc owned(made);
    if (desc != nullptr)
        *desc = Desc(ingot_program_desc_retain(made) == INGOT_SUCCESS ? made : nullptr);
    return status;
}

Bytes id_in(ReferenceDevice device, const ProgramText &text = {}, bool environment = false)
{
    const Context context = device.make(INGOT_CONTEXT_INFO_INIT, environment);
    return id_of(text.make(context));
}

void put_field(Bytes &id, uint32_t tag, const Bytes &value)
{
    for (int i = 0; i < 4; ++i)
        id.push_back(static_cast<uint8_t>(tag >> (8 * i)));
    for (int i = 0; i < 8; ++i)
        id.push_back(static_cast<uint8_t>(static_cast<uint64_t>(value.size()) >> (8 * i)));
    id.insert(id.end(), value.begin(), value.end());
}

} // namespace

/* A manifest may name artifacts, too. */
TEST(ProgramDescFromId, IsStaleForAnArtifact)
{
    ingot_artifact_key_t key = INGOT_ARTIFACT_KEY_INIT;
    key.kind = "triton";
    Bytes id(100);
    size_t size = id.size();
    ASSERT_EQ(INGOT_SUCCESS, ingot_artifact_key_get_id(&key, &size, id.data()));
    id.resize(size);
    ReferenceDevice device;
    EXPECT_EQ(INGOT_BLOB_STALE, try_describe(device.make(), id));
}

TEST(ProgramDescFromId, IsStaleForAnotherDriverDeviceOrEnvironment)
{
    ReferenceDevice here;
    const Context context = here.make();
    ReferenceDevice updated;
    updated.driver_version = "2";
    EXPECT_EQ(INGOT_BLOB_STALE, try_describe(context, id_in(updated)));
    ReferenceDevice other;
    other.targets = {"beta"};
    EXPECT_EQ(INGOT_BLOB_STALE, try_describe(context, id_in(other)));
    ReferenceDevice more;
    more.targets = {"alpha", "beta"};
    EXPECT_EQ(INGOT_BLOB_STALE, try_describe(context, id_in(more)));
    setenv("INGOT_COMPILE_OPTIONS", "-DE=1", 1);
    const Bytes with_options = id_in({}, {}, true);
    unsetenv("INGOT_COMPILE_OPTIONS");
    EXPECT_EQ(INGOT_BLOB_STALE, try_describe(context, with_options));
    EXPECT_EQ(INGOT_SUCCESS, try_describe(context, id_in({})));
    EXPECT_EQ(0u, here.counts.loads);
}

TEST(ProgramDescFromId, IsStaleForAnotherBuildOfTheLibrary)
{
    ReferenceDevice device;
    const Context context = device.make();
    Bytes id = id_in({});
    id[8 + 4 + 4 + 8] ^= 1; /* the first character of the library's version */
    EXPECT_EQ(INGOT_BLOB_STALE, try_describe(context, id));
}

TEST(ProgramDescFromId, StandsForAllDevicesThatTheIdSpeaksOf)
{
    ReferenceDevice device;
    device.targets = {"beta", "alpha", "gamma", "alpha"};
    const Context context = device.make();
    Desc desc;
    ASSERT_EQ(INGOT_SUCCESS, try_describe(context, id_in({}), &desc));
    size_t count = 0;
    const uint32_t *indices = nullptr;
    ASSERT_EQ(INGOT_SUCCESS, ingot_program_desc_get_devices(desc.get(), &count, &indices));
    ASSERT_EQ(2u, count);
    EXPECT_EQ(1u, indices[0]);
    EXPECT_EQ(3u, indices[1]);
    EXPECT_EQ(INGOT_SUCCESS, ingot_program_desc_is_cacheable(desc.get(), nullptr));
}

TEST(ProgramDescFromId, RefusesFieldsThatAreMalformedOrThereTwice)
{
    ReferenceDevice device;
    const Context context = device.make();
    const Bytes sound = id_in({});
    Bytes id = sound;
    put_field(id, 23, {1, 0, 0, 0, 7, 7, 7}); /* a constant of 3 bytes */
    EXPECT_EQ(INGOT_BLOB_CORRUPT, try_describe(context, id));
    id = sound;
    put_field(id, 22, {'-', 'D'}); /* a second field of the environment's link options */
    EXPECT_EQ(INGOT_BLOB_CORRUPT, try_describe(context, id));
    Bytes bare(sound.begin(), sound.begin() + 12);
    EXPECT_EQ(INGOT_BLOB_CORRUPT, try_describe(context, bare)) << "nothing but the magic and the version";
    ProgramText text;
    text.compile_options = "-DA=1";
    id = id_in({}, text);
    const std::string options = "-DA=1";
    const auto found = std::search(id.begin(), id.end(), options.begin(), options.end());
    ASSERT_NE(id.end(), found);
    *found = 0;
    EXPECT_EQ(INGOT_BLOB_CORRUPT, try_describe(context, id)) << "options with a NUL";
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS,
              ingot_program_desc_create_from_cache_blob_id(nullptr, context.get(), sound.size(), sound.data()));
}

TEST(ProgramDescFromId, HasTheConstantsOfTheId)
{
    ProgramText text;
    text.sources = {"kernel three x $3=5 +\n"};
    text.constants = {{3, 30}};
    ReferenceDevice device;
    const Context first = device.make();
    const Program built = create_program(text.make(first));
    const Bytes blob = blob_of(built);
    const Context second = device.make();
    Desc desc;
    ASSERT_EQ(INGOT_SUCCESS, try_describe(second, id_in({}, text), &desc));
    ingot_program_t loaded = nullptr;
    ASSERT_EQ(INGOT_SUCCESS, ingot_program_create_from_cache_blob(&loaded, desc.get(), blob.size(), blob.data()));
    EXPECT_EQ(31, run(create_kernel(Program(loaded), "three"), 1));
}

TEST(ProgramDescFromId, IsOfTheIdsNameExpressions)
{
    ReferenceDevice device;
    device.name_expressions = true;
    ProgramText text;
    text.name_expressions = {"square", "twice"};
    const Context first = device.make();
    const Bytes blob = blob_of(create_program(text.make(first)));
    Bytes id = id_of(text.make(first));
    const Context second = device.make();
    Desc desc;
    ASSERT_EQ(INGOT_SUCCESS, try_describe(second, id, &desc));
    ingot_program_t loaded = nullptr;
    ASSERT_EQ(INGOT_SUCCESS, ingot_program_create_from_cache_blob(&loaded, desc.get(), blob.size(), blob.data()))
        << ingot_last_error_detail();
    EXPECT_EQ(14, run(create_kernel(Program(loaded), "twice"), 7));
    put_field(id, 24, {});
    EXPECT_EQ(INGOT_BLOB_CORRUPT, try_describe(second, id)) << "an empty expression";
}

TEST(ProgramDescFromId, IsNotCompiledForADeviceThatTheBlobLacks)
{
    ReferenceDevice one;
    const Context small = one.make();
    const Bytes blob = blob_of(create_program(ProgramText().make(small)));
    ReferenceDevice two;
    two.targets = {"alpha", "beta"};
    const Context large = two.make();
    const Bytes id = id_of(ProgramText().make(large));
    Desc desc;
    ASSERT_EQ(INGOT_SUCCESS, try_describe(large, id, &desc));
    ingot_program_t loaded = nullptr;
    EXPECT_EQ(INGOT_BLOB_STALE, ingot_program_create_from_cache_blob(&loaded, desc.get(), blob.size(), blob.data()));
    EXPECT_EQ(0u, two.counts.builds);
}

TEST(ProgramDescFromId, FailsCleanlyAtEveryAllocationAndSoDoesSharing)
{
    ReferenceDevice device;
    const Context outside = device.make();
    const Bytes blob = blob_of(create_program(ProgramText().make(outside)));
    const Bytes id = id_in({});
    for (size_t n = 0;; ++n) {
        FailingAllocator allocator(n, true);
        ingot_status_t status = INGOT_OUT_OF_MEMORY;
        {
            ingot_context_info_t info = INGOT_CONTEXT_INFO_INIT;
            info.allocator = allocator.table();
            reference_info_t reference{};
            static const char *const targets[] = {"alpha"};
            reference.device_count = 1;
            reference.targets = targets;
            reference.driver_version = "1";
            ingot_context_t made = nullptr;
            if (reference_context_create(&made, &reference, &info) == INGOT_SUCCESS) {
                const Context context(made);
                ingot_program_desc_t of_id = nullptr;
                ingot_program_desc_t desc = nullptr;
                ingot_program_t loaded = nullptr;
                ingot_program_t shared = nullptr;
                status = ingot_program_desc_create_from_cache_blob_id(&of_id, made, id.size(), id.data());
                if (status == INGOT_SUCCESS)
                    status = ingot_program_load(&loaded, of_id, blob.size(), blob.data());
                if (status == INGOT_SUCCESS)
                    status = ProgramText().try_make(made, &desc);
                if (status == INGOT_SUCCESS)
                    status = ingot_program_share(&shared, desc, loaded);
                ingot_program_release(loaded);
                ingot_program_release(shared);
                ingot_program_desc_release(desc);
                ingot_program_desc_release(of_id);
            }
        }
        ASSERT_EQ(0u, allocator.live_count()) << n;
        if (status == INGOT_SUCCESS)
            return;
        ASSERT_EQ(INGOT_OUT_OF_MEMORY, status) << n << ": " << ingot_last_error_detail();
    }
}
