/*
 * image_fuzzer.cpp - reads any bytes as the index of an OCI image layout, and as the manifest that an index names. The
 * layers of a manifest that is accepted must have valid digests, sizes and namespaces.
 */
#include "fuzz/fuzz_scratch.h"

#include <sodium.h>

#include <filesystem>

extern "C" {
#include "remote/image/layout.h"
}

namespace
{

void read(const std::string &layout)
{
    image found = {};
    if (layout_read_image(layout.c_str(), &found) != INGOT_SUCCESS)
        return;
    for (size_t i = 0; i < found.count; ++i) {
        const layer &each = found.layers[i];
        ingot_storage_t bundle = nullptr;
        if (std::strlen(each.digest) != LAYOUT_DIGEST_CAPACITY - 1 || each.size == 0 ||
            std::strlen(each.name_space) >= LAYOUT_NAME_SPACE_CAPACITY ||
            layout_open_layer(layout.c_str(), &each, &bundle) == INGOT_SUCCESS) /* no layer has its digest */
            abort();
    }
    free(found.layers);
}

std::string digest_of(const uint8_t *data, size_t size)
{
    unsigned char hash[crypto_hash_sha256_BYTES];
    char digits[2 * sizeof(hash) + 1];
    crypto_hash_sha256(hash, data, size);
    return sodium_bin2hex(digits, sizeof(digits), hash, sizeof(hash));
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const std::string layout = fuzz::scratch() + "/layout";
    static const bool is_made = layout_make(layout.c_str()) == INGOT_SUCCESS;
    if (!is_made)
        abort();
    fuzz::write_file(layout + "/index.json", data, size);
    read(layout);
    const std::string digest = digest_of(data, size), blob = layout + "/blobs/sha256/" + digest;
    const std::string index =
        R"({"manifests":[{"digest":"sha256:)" + digest + R"(","size":)" + std::to_string(size) + "}]}";
    fuzz::write_file(blob, data, size);
    fuzz::write_file(layout + "/index.json", reinterpret_cast<const uint8_t *>(index.data()), index.size());
    read(layout);
    std::filesystem::remove(blob);
    return 0;
}
