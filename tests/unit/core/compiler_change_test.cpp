/*
 * compiler_change_test.cpp - tests that a program is not stored if its compiler's data files or environment variables
 * changed after the context read them. The compiler of these tests copies a file and a variable into its binaries.
 */
#include <ingot/private/backend.h>
#include <ingot/private/program.h>

#include "support/empty_backend.h"
#include "support/reference_context.h"
#include "support/scratch_directory.h"
#include "support/whole_file.h"

namespace
{

constexpr auto kKind = static_cast<ingot_source_kind_t>(INGOT_SOURCE_OWN_BINARY);
const char kVariable[] = "INGOT_TEST_COMPILER_SETTING";

using whole_file::read;
using whole_file::write;

struct Compiler {
    std::string path;     /* of the data file */
    std::string binary;   /* what the last build gave */
    bool is_late = false; /* true if the file is read when the binary is requested */

    std::string compile() const
    {
        const char *setting = std::getenv(kVariable);
        return read(path) + " " + (setting != nullptr ? setting : "");
    }
};

Compiler *compiler_of(void *state)
{
    return static_cast<Compiler *>(state);
}

ingot_status_t identify(void *state, uint32_t, ingot_identity_t *identity)
{
    const char *const variables[] = {kVariable, nullptr};
    const char *const paths[] = {compiler_of(state)->path.c_str(), nullptr};
    const ingot_status_t status = ingot_identity_add_environment(identity, variables);
    return status == INGOT_SUCCESS ? ingot_identity_add_files(identity, "data", paths) : status;
}

ingot_backend_ops_t make_ops()
{
    ingot_backend_ops_t ops = empty_backend("copying");
    ops.identify_device = identify;
    ops.build = [](void *state, const ingot_build_request_t *, size_t, const uint32_t *, ingot_sink_t *,
                   void **program) {
        compiler_of(state)->binary = compiler_of(state)->compile();
        *program = state;
        return INGOT_SUCCESS;
    };
    ops.get_binary = [](void *state, void *, uint32_t, ingot_sink_t *binary) {
        const Compiler *compiler = compiler_of(state);
        const std::string bytes = compiler->is_late ? compiler->compile() : compiler->binary;
        return ingot_sink_write(binary, bytes.size(), bytes.data());
    };
    ops.load = [](void *state, const ingot_build_request_t *, size_t, const uint32_t *, const ingot_binary_t *binaries,
                  void **program) {
        compiler_of(state)->binary.assign(reinterpret_cast<const char *>(binaries[0].bytes), binaries[0].size);
        *program = state;
        return INGOT_SUCCESS;
    };
    return ops;
}

class CompilerChange : public testing::Test
{
protected:
    void SetUp() override
    {
        compiler_.path = (scratch_.path() / "library").string();
        write(compiler_.path, "one");
        unsetenv(kVariable);
        context_ = make_context();
    }
    void TearDown() override { unsetenv(kVariable); }

    Context make_context()
    {
        const ingot_backend_ops_t ops = make_ops();
        ingot_context_info_t info = INGOT_CONTEXT_INFO_INIT;
        ingot_context_t context = nullptr;
        info.on_event = [](const ingot_event_t *event, void *user) {
            if (event->kind == INGOT_EVENT_NATIVE_BUILD || event->kind == INGOT_EVENT_TAKE_BLOB)
                *static_cast<std::string *>(user) = event->reason;
        };
        info.on_event_user = &reason_;
        EXPECT_EQ(INGOT_SUCCESS, ingot_context_create(&context, &ops, &compiler_, 1, &info));
        return Context(context);
    }

    Desc make_desc(const std::string &text)
    {
        ProgramText program;
        program.sources = {text};
        program.kind = kKind;
        return program.make(context_);
    }

    Program build(const Desc &desc)
    {
        ingot_program_t program = nullptr;
        EXPECT_EQ(INGOT_SUCCESS, ingot_program_build(&program, desc.get())) << ingot_last_error_detail();
        return Program(program);
    }

    void expect_refused(const Program &program, const char *reason)
    {
        EXPECT_EQ(INGOT_NOT_CACHEABLE, has_blob(program));
        EXPECT_STREQ(reason, ingot_last_error_detail());
        EXPECT_EQ(reason, reason_) << "by an event";
    }

    static constexpr char kFile[] = "a file of the compiler has changed since the context identified it";
    static constexpr char kSetting[] = "an environment variable of the compiler has changed since the context read it";

    const ScratchDirectory scratch_;
    Compiler compiler_;
    std::string reason_;
    Context context_;
};

TEST_F(CompilerChange, OfNothingLeavesProgramsCacheable)
{
    const Program program = build(make_desc("a"));
    EXPECT_EQ(INGOT_SUCCESS, has_blob(program));
    setenv("INGOT_TEST_ANOTHER_SETTING", "1", 1);
    EXPECT_EQ(INGOT_SUCCESS, has_blob(build(make_desc("b"))));
    unsetenv("INGOT_TEST_ANOTHER_SETTING");
}

/* The other program must not be stored under the id of the first file, which is put back before the next process
 * starts. */
TEST_F(CompilerChange, OfAFileRefusesWhatIsBuiltAfterwards)
{
    const Program before = build(make_desc("a"));
    const auto times = std::filesystem::last_write_time(compiler_.path);
    std::filesystem::rename(compiler_.path, compiler_.path + ".old");
    write(compiler_.path, "two");
    std::filesystem::last_write_time(compiler_.path, times);
    const Program during = build(make_desc("b"));
    expect_refused(during, kFile);
    std::filesystem::rename(compiler_.path + ".old", compiler_.path);
    expect_refused(during, kFile);
    context_ = make_context();
    EXPECT_EQ(INGOT_SUCCESS, has_blob(build(make_desc("b")))) << "in the next process";
}

TEST_F(CompilerChange, OfAFileInPlaceIsSeen)
{
    const Program before = build(make_desc("a"));
    const auto times = std::filesystem::last_write_time(compiler_.path);
    write(compiler_.path, "two"); /* as long as before */
    std::filesystem::last_write_time(compiler_.path, times);
    expect_refused(build(make_desc("b")), kFile);
    std::filesystem::remove(compiler_.path);
    expect_refused(build(make_desc("c")), kFile);
}

/* Such a compiler generates code when the binary is requested, and may keep it. */
TEST_F(CompilerChange, BetweenTheBuildAndTheBlobRefusesTheBlobForGood)
{
    compiler_.is_late = true;
    const Program program = build(make_desc("a"));
    setenv(kVariable, "fast", 1);
    expect_refused(program, kSetting);
    unsetenv(kVariable);
    expect_refused(program, kSetting);
    EXPECT_EQ(INGOT_SUCCESS, has_blob(build(make_desc("b"))));
}

TEST_F(CompilerChange, OfAVariableRefusesWhatIsBuiltMeanwhile)
{
    const Program before = build(make_desc("a"));
    setenv(kVariable, "fast", 1);
    expect_refused(build(make_desc("b")), kSetting);
    EXPECT_EQ(INGOT_NOT_CACHEABLE, has_blob(before));
    unsetenv(kVariable);
    EXPECT_EQ(INGOT_SUCCESS, has_blob(build(make_desc("c"))));
}

/* The id is requested only after the change. */
TEST_F(CompilerChange, IsSeenIfNoIdWasRequestedBefore)
{
    const Program program = build(make_desc("a"));
    setenv(kVariable, "fast", 1);
    EXPECT_EQ(INGOT_NOT_CACHEABLE, has_blob(program));
}

} // namespace
