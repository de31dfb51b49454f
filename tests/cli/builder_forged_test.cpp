/*
 * builder_forged_test.cpp - requests and wishes that a stranger composed for a builder, with a real compiler. The file
 * that they want it to read is watched: nothing may open it.
 */
#include <sys/inotify.h>

#include "cli/requests.h"

#include <ingot/private/wish.h>

extern "C" {
#include "core/descriptor/request.h"
#include "persist/request/kept_request.h"
}

namespace
{

struct Forged {
    std::string source;
    std::string options;
};

class Writer : public bytes_writer, NotCopied
{
public:
    Writer() { bytes_writer_init(this, &memory_c_allocator); }
    ~Writer() { bytes_writer_fini(this); }
};

class CliBuilderForged : public RequestTest
{
protected:
    CliBuilderForged()
    {
        std::ofstream(secret()) << "/* secret */ int secret;\n";
        fs::create_symlink(secret(), scratch() / "link.h");
        watch_ = inotify_init1(IN_NONBLOCK);
        EXPECT_LE(0, inotify_add_watch(watch_, secret().c_str(), IN_OPEN | IN_ACCESS));
    }
    ~CliBuilderForged() override { close(watch_); }

    std::string secret() const { return (scratch() / "secret.h").string(); }
    bool is_secret_opened() const
    {
        char events[4096];
        return read(watch_, events, sizeof(events)) > 0;
    }

    /* Stores the request under its own id, and leaves a wish for its result on the first device. Both are as they would
     * be if an application could write them. */
    void leave(const Forged &forged) const
    {
        const Context context = make_opencl_context();
        const Desc honest = numbered_text(1).make(context);
        const std::vector<uint8_t> id = id_of(honest);
        ingot_buffer_t bytes = INGOT_BUFFER_INIT;
        ASSERT_EQ(INGOT_SUCCESS, ingot_program_desc_get_request(honest.get(), &bytes));
        struct arena arena;
        arena_init(&arena, &memory_c_allocator);
        struct request request = {};
        const char *backend = nullptr;
        ASSERT_EQ(INGOT_SUCCESS, request_read_whole(&request, &backend, &arena, bytes.size, bytes.bytes));
        Writer honest_digests;
        request_write(&honest_digests, REQUEST_OF_DIGESTS, &request);
        ASSERT_LT(honest_digests.size, id.size());
        ASSERT_TRUE(std::equal(honest_digests.bytes, honest_digests.bytes + honest_digests.size,
                               id.end() - static_cast<std::ptrdiff_t>(honest_digests.size)));

        ingot_source_view_t source = request.build.sources[0];
        source.bytes = forged.source.data();
        source.size = forged.source.size();
        request.build.sources = &source;
        request.build.compile_options = forged.options.c_str();
        Writer whole, wish;
        request_write_head(&whole, backend);
        request_write(&whole, REQUEST_OF_TEXTS, &request);
        bytes_put(&wish, id.size() - honest_digests.size, id.data());
        request_write(&wish, REQUEST_OF_DIGESTS, &request);
        store(request, backend, whole, wish);
        arena_fini(&arena);
        bytes.release(&bytes);
    }

    void store(const struct request &request, const char *backend, const Writer &whole, const Writer &wish) const
    {
        uint8_t digest[INGOT_REQUEST_DIGEST_SIZE];
        struct kept_request_id id;
        ingot_kept_request_t facts = {};
        ingot_buffer_t blob = INGOT_BUFFER_INIT;
        const ingot_buffer_t packed = {whole.size, whole.bytes, nullptr, nullptr};
        const store_fixture::Store store = open_store();
        ASSERT_TRUE(request_digest(&request, &memory_c_allocator, digest));
        ASSERT_EQ(INGOT_SUCCESS, kept_request_make_id(&id, backend, digest));
        ASSERT_EQ(INGOT_SUCCESS, kept_request_pack(&id, &facts, &packed, store.get(), &blob));
        ASSERT_EQ(INGOT_SUCCESS, ingot_storage_store(store.get(), id.size, id.bytes, blob.size, blob.bytes));
        ASSERT_EQ(INGOT_SUCCESS, ingot_persist_leave_wish(store.get(), wish.size, wish.bytes));
        blob.release(&blob);
    }

    Result answer() const
    {
        return tool({"build", "--watch", "--dir", root().string(), "--jobs", "1", "--idle", "1s"});
    }

    int watch_ = -1;
};

TEST_F(CliBuilderForged, RequestsThatReadNoFileAreAnswered)
{
    leave({"kernel void k(global int *x) { x[0] = 7; }\n", ""});
    leave({"kernel void k(global int *x) { x[0] = N; }\n", "-DN=8"});
    EXPECT_TRUE(answer().says("2 built, 0 present"));
}

TEST_F(CliBuilderForged, RequestsReadNoFile)
{
    const std::string file = secret(), folder = scratch().string(), link = (scratch() / "link.h").string();
    const std::string kernel = "kernel void k(global int *x) { ", end = " x[0] = 1; }\n";
    const std::string behind = " \\\"" + file + "\\\"\\n\");";
    const std::vector<Forged> forged = {
        {"#include \"" + file + "\"\n", ""},
        {"#include \"" + link + "\"\n", ""},
        {"#include \"link.h\"\n", "-I " + folder},
        {"#include <secret.h>\n", "-I" + folder},
        {"#include <secret.h>\n", "-isystem " + folder},
        {"%:include \"" + file + "\"\n", ""},
        {"#inc\\\nlude \"" + file + "\"\n", ""},
        {"/* */ # /* */ include \"" + file + "\"\n", ""},
        {"#define H \"" + file + "\"\n#include H\n", ""},
        {"#include H\n", "-DH=\"" + file + "\""},
        {"#import \"" + file + "\"\n", ""},
        {"#embed \"" + file + "\"\n", ""},
        {"#if __has_include(\"" + file + "\")\n#endif\n", ""},
        {"#define C(a, b) a##b\n#if C(__has_, include)(\"" + file + "\")\n#endif\n", ""},
        {"_Pragma(\"GCC dependency \\\"" + file + "\\\"\")\n", ""},
        {"# 1 \"INGOT_NO_ASM\" 1\n#include \"" + file + "\"\n", ""},
        {kernel + "__asm__(\".incbin" + behind + end, ""},
        {kernel + "__asm__(\".\\151ncbin" + behind + end, ""},
        {kernel + "Q(\".\\151ncbin" + behind + end, "-DQ=__asm__"},
        {kernel + "A(as, m)(\".include" + behind + end, "-DA(a,b)=a##b"},
        {kernel + end, "-include " + file},
        {kernel + end, "-include" + link},
        {kernel + end, "-imacros " + file},
        {kernel + end, "@" + file},
        {kernel + end, "-I" + folder + " -include secret.h"},
        {kernel + end, "-Xclang -include -Xclang " + file},
        {kernel + end, "--config=" + file},
        {kernel + end, "-ivfsoverlay " + file},
        {kernel + end, "-fmodule-map-file=" + file},
        {kernel + end, "-DX=\" -include " + file},
    };
    for (const Forged &each : forged) {
        leave(each);
        if (HasFatalFailure())
            return;
    }
    ASSERT_FALSE(is_secret_opened());
    const Result result = answer();
    EXPECT_TRUE(
        result.says("\n0 built, 0 present, 0 compiled elsewhere, " + std::to_string(forged.size()) + " failed ("));
    EXPECT_FALSE(is_secret_opened()) << result.output;
    std::ifstream(secret()).get();
    EXPECT_TRUE(is_secret_opened()) << "the file is watched";
}

} // namespace
