/*
 * recipe_fuzzer.cpp - reads any bytes as a recipe. If the recipe is accepted, its programs must be readable and must be
 * found by their keys, and describing them to a context must not crash. A copy of the recipe must be sound and contain
 * all programs that can be copied. Each input is also tried with corrected checksums and keys, and this corrected
 * recipe is then sealed.
 */
#include <ingot/private/recipe.h>

#include <algorithm>

#include "fuzz/fuzz_scratch.h"
#include "support/reference_backend.h"

extern "C" {
#include "persist/recipe/format/record.h"
#include "util/little_endian.h"
}

namespace
{

ingot_context_t reference_context()
{
    static ingot_context_t context = nullptr;
    static const char *const targets[] = {"alpha"};
    reference_info_t reference{};
    ingot_context_info_t info = INGOT_CONTEXT_INFO_INIT;
    reference.device_count = 1;
    reference.targets = targets;
    reference.driver_version = "1";
    info.flags = INGOT_CONTEXT_IGNORE_ENVIRONMENT;
    if (context == nullptr && reference_context_create(&context, &reference, &info) != INGOT_SUCCESS)
        abort();
    return context;
}

void read_text(ingot_recipe_t recipe, const ingot_recipe_text_t &text)
{
    size_t size = 0;
    if (text.text == SIZE_MAX)
        return;
    if (ingot_recipe_get_text(recipe, text.text, &size, nullptr) != INGOT_SUCCESS || size != text.size)
        abort();
    fuzz::Bytes bytes(std::min(size, size_t{1} << 20));
    (void)ingot_recipe_get_text(recipe, text.text, &size, bytes.data());
}

/* Reads a program, and copies it. Returns true if it was copied, and false if a part of it is missing or damaged. */
bool read_program(ingot_recipe_t recipe, size_t index, ingot_recipe_writer_t writer)
{
    ingot_recipe_program_t program = INGOT_RECIPE_PROGRAM_INIT;
    ingot_program_desc_t desc = nullptr;
    if (ingot_recipe_get_program(recipe, index, &program) != INGOT_SUCCESS)
        abort();
    for (size_t i = 0; i < program.source_count; ++i) {
        read_text(recipe, program.sources[i]);
        for (size_t j = 0; j < program.sources[i].header_count; ++j)
            read_text(recipe, program.sources[i].headers[j]);
    }
    for (size_t i = 0; i < program.header_count; ++i)
        read_text(recipe, program.headers[i]);
    for (size_t i = 0; i < program.file_count; ++i)
        read_text(recipe, program.files[i]);
    for (size_t i = 0; i < program.kernel_count; ++i)
        if (program.kernels[i][0] == '\0' || std::strlen(program.kernels[i]) > 4096)
            abort();
    if (ingot_recipe_desc_create(&desc, recipe, index, reference_context(), 0, nullptr) == INGOT_SUCCESS)
        ingot_program_desc_release(desc);
    const ingot_status_t copied = ingot_recipe_writer_copy(writer, recipe, index);
    if (copied != INGOT_SUCCESS && copied != INGOT_NOT_FOUND && copied != INGOT_BLOB_CORRUPT &&
        copied != INGOT_NO_SPACE)
        abort();
    return copied == INGOT_SUCCESS;
}

ingot_status_t supply_key(size_t index, ingot_persist_key_t *key, void *)
{
    key->kind = INGOT_PERSIST_KEY_BLAKE2B;
    for (size_t i = 0; i < sizeof(key->bytes); ++i)
        key->bytes[i] = static_cast<uint8_t>(i);
    return index == 0 ? INGOT_SUCCESS : INGOT_NOT_FOUND;
}

/* Opens the recipe with a policy that requires a seal. Then seals the recipe; if that succeeds, the policy must accept
 * it. */
void check_seal(const std::string &path)
{
    ingot_persist_trust_t trust = INGOT_PERSIST_TRUST_INIT;
    ingot_recipe_t recipe = nullptr;
    trust.policy = INGOT_PERSIST_TRUST_REQUIRE;
    trust.next_key = supply_key;
    if (ingot_recipe_open(&recipe, path.c_str(), &trust) == INGOT_SUCCESS)
        ingot_recipe_release(recipe);
    if (ingot_recipe_seal(path.c_str(), &trust, nullptr) != INGOT_SUCCESS)
        return;
    if (ingot_recipe_open(&recipe, path.c_str(), &trust) != INGOT_SUCCESS)
        abort();
    ingot_recipe_release(recipe);
}

void read_file(const std::string &path, const std::string &copy)
{
    ingot_recipe_t recipe = nullptr;
    ingot_recipe_t copied = nullptr;
    ingot_recipe_writer_t writer = nullptr;
    ingot_recipe_summary_t summary = INGOT_RECIPE_SUMMARY_INIT;
    ingot_recipe_record_info_t info = INGOT_RECIPE_RECORD_INFO_INIT;
    if (ingot_recipe_open(&recipe, path.c_str(), nullptr) != INGOT_SUCCESS)
        return;
    unlink(copy.c_str());
    info.path = copy.c_str();
    if (ingot_recipe_get_summary(recipe, &summary) != INGOT_SUCCESS ||
        ingot_recipe_writer_open(&writer, &info) != INGOT_SUCCESS)
        abort();
    size_t copied_count = 0;
    for (size_t i = 0; i < summary.program_count; ++i)
        copied_count += read_program(recipe, i, writer) ? 1 : 0;
    ingot_recipe_writer_release(writer);
    ingot_recipe_summary_t again = INGOT_RECIPE_SUMMARY_INIT;
    if (ingot_recipe_open(&copied, copy.c_str(), nullptr) != INGOT_SUCCESS ||
        ingot_recipe_get_summary(copied, &again) != INGOT_SUCCESS || again.damaged_count != 0 ||
        again.torn_bytes != 0 || again.program_count != copied_count)
        abort();
    ingot_recipe_release(copied);
    ingot_recipe_release(recipe);
    if (ingot_recipe_writer_open(&writer, &(info.path = path.c_str(), info)) == INGOT_SUCCESS)
        ingot_recipe_writer_release(writer);
}

/* Corrects the header, the checksums of the records, and the keys of records that are not compressed. Stops at the
 * first record whose size exceeds the rest of the input. */
void correct(fuzz::Bytes *bytes)
{
    if (bytes->size() < RECIPE_HEADER_SIZE)
        return;
    recipe_put_header(bytes->data());
    size_t at = RECIPE_HEADER_SIZE;
    while (bytes->size() - at >= RECIPE_RECORD_SIZE) {
        uint8_t *record = bytes->data() + at;
        const uint64_t left = bytes->size() - at - RECIPE_RECORD_SIZE;
        const uint64_t size = le_get_u64(record + 8);
        if (size > left)
            return;
        std::memcpy(record, "RCRD", 4);
        if (le_get_u32(record + 24) == 0)
            recipe_digest(static_cast<size_t>(size), record + RECIPE_RECORD_SIZE, record + 32);
        fuzz::set_checksum(bytes, at + 64, at + RECIPE_RECORD_SIZE, static_cast<size_t>(size));
        fuzz::set_checksum(bytes, at + 80, at, 80);
        at += RECIPE_RECORD_SIZE + static_cast<size_t>(size);
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const std::string path = fuzz::scratch() + "/recipe";
    fuzz::Bytes bytes(data, data + size);
    fuzz::write_file(path, bytes.data(), bytes.size());
    read_file(path, fuzz::scratch() + "/copy");
    correct(&bytes);
    fuzz::write_file(path, bytes.data(), bytes.size());
    read_file(path, fuzz::scratch() + "/copy");
    check_seal(path);
    return 0;
}
