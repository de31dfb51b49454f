/*
 * http_answer_fuzzer.cpp - receives any pieces as the body of an HTTP answer that announces any size. The body must be
 * the bytes that came, in order, and neither the body nor the memory for it may exceed the limit. Also maps the
 * announced number, as an HTTP status, to an outcome.
 *
 * Input: 2 bytes for the limit, 8 for the announced size, then pieces, each after a byte with its size.
 */
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

extern "C" {
#include "remote/http/answer.h"
#include "util/little_endian.h"
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    std::vector<uint8_t> expected;
    answer_body body = {};
    bool is_taken = true;
    if (size < 10)
        return 0;
    body.max_size = static_cast<size_t>(data[0] | data[1] << 8) + 1;
    const int64_t announced = static_cast<int64_t>(le_get_u64(data + 2));
    for (size_t at = 10; at < size && is_taken;) {
        const size_t piece = data[at] < size - at ? data[at] : size - at - 1;
        is_taken = answer_body_add(&body, announced, piece, data + at + 1);
        if (is_taken)
            expected.insert(expected.end(), data + at + 1, data + at + 1 + piece);
        at += piece + 1;
    }
    if (body.size != expected.size() || body.size > body.max_size || body.capacity > body.max_size ||
        (body.size != 0 && std::memcmp(body.bytes, expected.data(), body.size) != 0) ||
        is_taken == (body.is_too_large || body.has_no_memory))
        abort();
    free(body.bytes);

    request request = {};
    const std::string page(expected.begin(), expected.end());
    for (const http_method method : {HTTP_GET, HTTP_HEAD, HTTP_PUT, HTTP_DELETE}) {
        const outcome found = answer_outcome(method, static_cast<long>(announced), page.c_str(), &request);
        if ((found == OUTCOME_DONE) != (announced >= 200 && announced <= (method < HTTP_PUT ? 200 : 204)))
            abort();
    }
    return 0;
}
