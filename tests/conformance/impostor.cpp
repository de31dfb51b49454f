/*
 * impostor.cpp - makes blobs with any binary; see impostor.h.
 *
 * Blobs have checksums, so changed bytes never reach a backend. But a second backend with the same name and the same
 * devices has the same ids. Its blobs are sound, and hold what it says. It reads its name and its devices from an id of
 * the backend under test, as doc/blob-format.md describes.
 */
#include "conformance/impostor.h"

#include <ingot/backend.h>

namespace conformance
{

namespace
{

constexpr size_t kSectionSizeAt = 160; /* the size of a blob's first binary */
constexpr size_t kChecksumSize = 16;
const std::string kKernels("square\0twice\0", 13);

uint64_t number_at(const Bytes &bytes, size_t at, int size)
{
    uint64_t number = 0;
    for (int i = size - 1; i >= 0; --i)
        number = number << 8 | bytes.at(at + static_cast<size_t>(i));
    return number;
}

/* Reads framed bytes, and moves `at` behind them. */
std::string framed_at(const Bytes &bytes, size_t *at)
{
    const auto size = static_cast<size_t>(number_at(bytes, *at, 8));
    const auto begin = bytes.begin() + static_cast<std::ptrdiff_t>(*at + 8);
    *at += 8 + size;
    return {begin, begin + static_cast<std::ptrdiff_t>(size)};
}

struct Impostor {
    std::string name;
    Bytes device;
    Bytes binary;

    explicit Impostor(const Bytes &id)
    {
        size_t at = 12;
        (void)framed_at(id, &at); /* the rules */
        name = framed_at(id, &at);
        at += 4; /* the number of devices */
        const std::string value = framed_at(id, &at);
        device.assign(value.begin(), value.end());
    }
};

const Impostor &of(void *state)
{
    return *static_cast<Impostor *>(state);
}

ingot_status_t identify(void *state, uint32_t, ingot_identity_t *identity)
{
    ingot_status_t status = INGOT_SUCCESS;
    for (size_t at = 0; status == INGOT_SUCCESS && at < of(state).device.size();) {
        const std::string name = framed_at(of(state).device, &at);
        const std::string value = framed_at(of(state).device, &at);
        status = ingot_identity_add(identity, name.c_str(), value.size(), value.data());
    }
    return status;
}

ingot_status_t build(void *state, const ingot_build_request_t *, size_t, const uint32_t *, ingot_sink_t *, void **out)
{
    *out = state;
    return INGOT_SUCCESS;
}

ingot_status_t load(void *state, const ingot_build_request_t *, size_t, const uint32_t *, const ingot_binary_t *,
                    void **out)
{
    *out = state;
    return INGOT_SUCCESS;
}

ingot_backend_ops_t operations_of(const Impostor &impostor)
{
    ingot_backend_ops_t ops{};
    ops.struct_size = sizeof(ops);
    ops.name = impostor.name.c_str();
    ops.destroy = [](void *) {};
    ops.identify_device = identify;
    ops.accepts = [](void *, ingot_source_kind_t) { return 1; };
    ops.build = build;
    ops.destroy_program = [](void *, void *) {};
    ops.get_kernel_names = [](void *, void *, ingot_sink_t *names) {
        return ingot_sink_write(names, kKernels.size(), kKernels.data());
    };
    ops.get_binary = [](void *state, void *, uint32_t, ingot_sink_t *binary) {
        return ingot_sink_write(binary, of(state).binary.size(), of(state).binary.data());
    };
    ops.load = load;
    ops.create_kernel = [](void *, void *, uint32_t, const char *, void **) { return INGOT_NOT_FOUND; };
    ops.destroy_kernel = [](void *, void *) {};
    return ops;
}

} // namespace

Bytes binary_of(const Bytes &blob)
{
    const auto size = static_cast<size_t>(number_at(blob, kSectionSizeAt, 8));
    const auto end = blob.end() - static_cast<std::ptrdiff_t>(kChecksumSize);
    return {end - static_cast<std::ptrdiff_t>(size), end};
}

Bytes blob_with_binary(const Bytes &binary)
{
    const ProgramText text = device_under_test().two_kernels();
    const Bytes id = id_of(text);
    Impostor impostor(id);
    impostor.binary = binary;
    const ingot_backend_ops_t ops = operations_of(impostor);
    const ingot_context_info_t info = INGOT_CONTEXT_INFO_INIT;
    ingot_context_t made = nullptr;
    EXPECT_EQ(INGOT_SUCCESS, ingot_context_create(&made, &ops, &impostor, 1, &info)) << ingot_last_error_detail();
    const Context context(made);
    const Desc desc = describe(context, text);
    EXPECT_EQ(id, id_of(desc));
    return blob_of(create_program(desc));
}

} // namespace conformance
