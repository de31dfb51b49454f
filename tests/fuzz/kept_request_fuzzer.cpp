/*
 * kept_request_fuzzer.cpp - reads requests of stores whose envelopes are sound, but whose parts are not.
 *
 * Twice the first byte is the size of the request. The first byte also says what the second part is, which has the
 * rest.
 */
#include <ingot/private/artifact.h>
#include <ingot/private/descriptor.h>
#include <ingot/private/request.h>

#include <cstdlib>
#include <cstring>

namespace
{

void look_at(void *, const char *path, size_t size, const uint8_t *value, bool)
{
    if (std::strlen(path) == 0 || (size != 0 && value == nullptr))
        std::abort();
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[] = {"request", "texts", "group", "namespace", "device"};
    uint8_t digest[INGOT_REQUEST_DIGEST_SIZE] = {};
    if (size == 0)
        return 0;
    const size_t first = size_t{2} * data[0] < size ? size_t{2} * data[0] : size - 1;
    if (ingot_request_get_digest(first, data + 1, digest) != INGOT_SUCCESS)
        std::memset(digest, 0, sizeof(digest));
    const ingot_artifact_field_t fields[] = {{"backend", 6, "opencl"}, {"digest", sizeof(digest), digest}};
    const ingot_artifact_key_t key = {sizeof(key), INGOT_REQUEST_KIND, 2, fields};
    const ingot_artifact_part_t parts[] = {{names[0], first}, {names[1 + data[0] % 4], size - 1 - first}};
    ingot_artifact_info_t info = INGOT_ARTIFACT_INFO_INIT;
    ingot_buffer_t blob = INGOT_BUFFER_INIT;
    ingot_kept_request_t request;
    uint8_t id[256];
    size_t id_size = sizeof(id);
    info.parts = parts;
    info.part_count = 2;
    if (ingot_artifact_key_get_id(&key, &id_size, id) != INGOT_SUCCESS ||
        ingot_artifact_pack(id_size, id, &info, size - 1, data + 1, &blob) != INGOT_SUCCESS)
        std::abort();
    if (ingot_request_open(&request, id_size, id, &blob) == INGOT_SUCCESS) {
        volatile size_t sum = 0; /* reads all texts to their ends */
        const char *const texts[] = {request.name, request.group, request.name_space, request.device};
        for (const char *text : texts)
            sum = sum + std::strlen(text);
        ingot_buffer_t bytes = INGOT_BUFFER_INIT;
        if (ingot_request_unpack(&request, nullptr, &bytes) == INGOT_SUCCESS) {
            (void)ingot_request_visit(bytes.size, bytes.bytes, look_at, nullptr);
            bytes.release(&bytes);
        }
        ingot_request_close(&request);
    }
    if (blob.release != nullptr)
        blob.release(&blob);
    return 0;
}
