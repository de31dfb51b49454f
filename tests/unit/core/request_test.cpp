/*
 * request_test.cpp - compares requests with ones assembled by hand from doc/request-format.md and with golden files,
 * and reads damaged ones. If INGOT_WRITE_GOLDEN names a directory, this program writes the golden files there again.
 */
#include <array>
#include <cstdlib>
#include <map>

#include "support/byte_parts.h"

extern "C" {
#include "core/descriptor/request.h"
}

using namespace byte_parts;

namespace
{

Bytes framed(const std::string &value)
{
    return join({number(value.size(), 8), text(value)});
}

Bytes digest(const Bytes &value)
{
    Bytes result(DIGEST_SIZE);
    digest_of(value.size(), value.data(), result.data());
    return result;
}

const std::string kFirst = "kernel f x\n", kSecond = "kernel g x\n", kHeader = "kernel h x\n";
const uint64_t kValue = 258;
const Bytes kDirectory = digest(text("/home/u"));
const Bytes kFiles = join({digest(text("int x;")), framed("x.h")});

ingot_source_view_t view(ingot_source_kind_t kind, const char *name, const std::string &bytes)
{
    return {kind, bytes.size(), bytes.data(), name};
}

/* A request that has every part. */
struct Sample {
    std::array<ingot_source_view_t, 2> sources = {view(INGOT_SOURCE_OPENCL_C, "dir/a.cl", kFirst),
                                                  view(INGOT_SOURCE_OWN_TEXT, "", kSecond)};
    ingot_source_view_t header = view(INGOT_SOURCE_HEADER, "h.h", kHeader);
    ingot_spec_constant_t constant = {7, sizeof(kValue), &kValue};
    std::array<const char *, 2> expressions = {"a<int>", "b"};
    request whole = {};

    explicit Sample(bool names_matter)
    {
        whole.files_size = kFiles.size();
        whole.files = kFiles.data();
        whole.form = REQUEST_OF_TEXTS;
        whole.build = {
            sizeof(whole.build), sources.data(), 2, &header, 1, "-DA", "-link", &constant, 1, expressions.data(), 2};
        whole.names_matter = names_matter;
        whole.directory = names_matter ? kDirectory.data() : nullptr;
    }

    Bytes write(request_form form) const
    {
        bytes_writer out;
        bytes_writer_init(&out, &memory_c_allocator);
        request_write(&out, form, &whole);
        Bytes bytes(out.bytes, out.bytes + out.size);
        bytes_writer_fini(&out);
        return bytes;
    }
};

Bytes by_hand(request_form form, bool names_matter)
{
    const bool is_texts = form == REQUEST_OF_TEXTS;
    const auto part = [is_texts](const std::string &value) { return is_texts ? framed(value) : digest(text(value)); };
    const Bytes directory = names_matter ? join({number(32, 8), kDirectory}) : number(0, 8);
    const Bytes files = is_texts ? join({number(kFiles.size(), 8), kFiles}) : Bytes{};
    return join({number(is_texts, 4),
                 number(names_matter, 4),
                 number(2, 4),
                 number(1, 4),
                 framed(is_texts || names_matter ? "dir/a.cl" : ""),
                 part(kFirst),
                 number(0x100, 4),
                 framed(""),
                 part(kSecond),
                 number(1, 4),
                 framed("h.h"),
                 part(kHeader),
                 framed("-DA"),
                 framed("-link"),
                 number(0, 4),
                 number(1, 4),
                 number(7, 4),
                 number(8, 8),
                 number(kValue, 8),
                 number(2, 4),
                 framed("a<int>"),
                 framed("b"),
                 directory,
                 files});
}

Bytes kept_by_hand(bool names_matter)
{
    return join({text("INGOTREQ"), number(1, 4), framed("reference"), by_hand(REQUEST_OF_TEXTS, names_matter)});
}

std::string golden_path(const std::string &name)
{
    return std::string(INGOT_SOURCE_DIR "/tests/golden/request/") + name;
}

ingot_status_t read(request_form form, const Bytes &bytes, Bytes *again = nullptr)
{
    arena arena;
    request request;
    arena_init(&arena, &memory_c_allocator);
    const ingot_status_t status = request_read(&request, form, &arena, bytes.size(), bytes.data());
    if (status == INGOT_SUCCESS && again != nullptr) {
        bytes_writer out;
        bytes_writer_init(&out, &memory_c_allocator);
        request_write(&out, form, &request);
        *again = Bytes(out.bytes, out.bytes + out.size);
        bytes_writer_fini(&out);
    }
    arena_fini(&arena);
    return status;
}

void note_field(void *user, const char *path, size_t size, const uint8_t *value, bool)
{
    (*static_cast<std::map<std::string, std::string> *>(user))[path] =
        std::string(reinterpret_cast<const char *>(value), size);
}

} // namespace

TEST(Request, IsWhatTheDocumentSays)
{
    for (const bool names_matter : {false, true}) {
        for (const request_form form : {REQUEST_OF_DIGESTS, REQUEST_OF_TEXTS}) {
            const Bytes bytes = Sample(names_matter).write(form);
            EXPECT_EQ(by_hand(form, names_matter), bytes);
            Bytes again;
            ASSERT_EQ(INGOT_SUCCESS, read(form, bytes, &again)) << ingot_last_error_detail();
            EXPECT_EQ(bytes, again);
        }
    }
}

TEST(Request, GoldenFilesAreRead)
{
    for (const bool names_matter : {false, true}) {
        const Bytes kept = kept_by_hand(names_matter);
        const std::string name = names_matter ? "names-v1.bin" : "plain-v1.bin";
        if (const char *directory = std::getenv("INGOT_WRITE_GOLDEN"))
            write_file(std::string(directory) + "/" + name, kept);
        EXPECT_EQ(kept, read_file(golden_path(name)));
        Bytes found(DIGEST_SIZE);
        ASSERT_EQ(INGOT_SUCCESS, ingot_request_get_digest(kept.size(), kept.data(), found.data()));
        EXPECT_EQ(digest(by_hand(REQUEST_OF_DIGESTS, names_matter)), found) << "the digest of the other form";
    }
}

TEST(Request, IsVisitedFieldByField)
{
    std::map<std::string, std::string> fields;
    const Bytes kept = kept_by_hand(true);
    ASSERT_EQ(INGOT_SUCCESS, ingot_request_visit(kept.size(), kept.data(), note_field, &fields));
    EXPECT_EQ("reference", fields["backend"]);
    EXPECT_EQ("opencl_c", fields["source[0].kind"]);
    EXPECT_EQ("00000100", fields["source[1].kind"]);
    EXPECT_EQ("dir/a.cl", fields["source[0].name"]);
    EXPECT_EQ(kFirst, fields["source[0].text"]);
    EXPECT_EQ("h.h", fields["header[0].name"]);
    EXPECT_EQ("-link", fields["link_options"]);
    EXPECT_EQ(8u, fields["spec_constant[7]"].size());
    EXPECT_EQ("b", fields["name_expression[1]"]);
    EXPECT_EQ("x.h", fields["file[0].name"]);
    EXPECT_EQ(size_t{DIGEST_SIZE}, fields["directory.blake2b"].size());
}

TEST(Request, DamagedOnesAreRefused)
{
    uint8_t found[INGOT_REQUEST_DIGEST_SIZE];
    const Bytes kept = kept_by_hand(true);
    for (size_t size = 0; size < kept.size(); ++size) {
        const Bytes cut(kept.begin(), kept.begin() + static_cast<ptrdiff_t>(size)); /* for ASan, exactly this size */
        const ingot_status_t status = ingot_request_get_digest(cut.size(), cut.data(), found);
        EXPECT_TRUE(status == INGOT_BLOB_TRUNCATED || status == INGOT_BLOB_CORRUPT) << size;
    }
    Bytes longer = kept;
    longer.push_back(0);
    EXPECT_EQ(INGOT_BLOB_CORRUPT, ingot_request_get_digest(longer.size(), longer.data(), found));
    Bytes later = kept;
    later[8] = 2;
    EXPECT_EQ(INGOT_BLOB_VERSION, ingot_request_get_digest(later.size(), later.data(), found));
    EXPECT_EQ(INGOT_BLOB_CORRUPT, read(REQUEST_OF_DIGESTS, by_hand(REQUEST_OF_TEXTS, false)));
    EXPECT_EQ(INGOT_BLOB_CORRUPT, read(REQUEST_OF_TEXTS, by_hand(REQUEST_OF_DIGESTS, false)));
    Bytes named = by_hand(REQUEST_OF_DIGESTS, true);
    named[4] = 0;
    EXPECT_EQ(INGOT_BLOB_CORRUPT, read(REQUEST_OF_DIGESTS, named)) << "a name that does not count";
}

/* A count is refused if the bytes cannot have so many parts, before memory is taken for them. */
TEST(Request, LargeCountsTakeNoMemory)
{
    Bytes few = by_hand(REQUEST_OF_DIGESTS, false);
    few[8] = few[9] = 0xff;
    EXPECT_EQ(INGOT_BLOB_TRUNCATED, read(REQUEST_OF_DIGESTS, few));
    few[10] = 0xff;
    EXPECT_EQ(INGOT_BLOB_CORRUPT, read(REQUEST_OF_DIGESTS, few));
}
