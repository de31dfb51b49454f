/*
 * key_text_fuzzer.cpp - reads any bytes as a key file. If they are accepted, writing the key must give the same text.
 * Each input is also tried after the beginnings of valid key files.
 */
#include <cstdlib>
#include <cstring>
#include <string>

extern "C" {
#include "persist/trust/key.h"
}

namespace
{

void check(const std::string &text)
{
    struct key key;
    char written[KEY_TEXT_CAPACITY];
    const ingot_status_t status = key_text_decode(&key, text.size(), text.data());
    if (status != INGOT_SUCCESS) {
        if (status != INGOT_BLOB_CORRUPT && status != INGOT_BLOB_VERSION)
            abort();
        return;
    }
    const bool is_public = key.kind == INGOT_PERSIST_KEY_ED25519_PUBLIC;
    if (key_can_seal(&key) == is_public || std::string(written, key_text_encode(&key, is_public, written)) != text)
        abort();
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const std::string text(data, data + size);
    check(text);
    for (const char *begin :
         {"ingot key 1\n", "ingot key 1\nalgorithm: blake2b\nkind: secret\nid: ",
          "ingot key 1\nalgorithm: ed25519\nkind: secret\nid: ", "ingot key 1\nalgorithm: ed25519\nkind: public\nid: "})
        check(begin + text);
    return 0;
}
