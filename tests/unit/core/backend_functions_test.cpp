/*
 * backend_functions_test.cpp - tests the functions that backend.h offers to backends in addition to the operations
 * table. With them, a backend writes log text, refuses a program, uses the user's allocator, and reads a program's
 * build request.
 */
#include <ingot/private/backend.h>
#include <ingot/private/descriptor.h>

#include <cstddef>
#include <fstream>

extern "C" {
#include "core/base/sink.h"
}
#include "support/failing_allocator.h"
#include "support/reference_context.h"
#include "support/scratch_directory.h"

namespace
{

class Log
{
public:
    explicit Log(const ingot_allocator_t *allocator) { bytes_writer_init(&sink_.writer, allocator); }
    ~Log() { bytes_writer_fini(&sink_.writer); }
    ingot_status_t write(const char *text) { return ingot_sink_write_log(&sink_, text); }
    std::string text() const
    {
        return std::string(reinterpret_cast<const char *>(sink_.writer.bytes), sink_.writer.size);
    }

    ingot_sink_t *sink() { return &sink_; }

private:
    ingot_sink_t sink_{};
};

TEST(SinkWriteLog, KeepsOneTextAsItIs)
{
    for (const char *text : {"", "\n", "one", "one\n", "\none\n\n\n"}) {
        FailingAllocator memory;
        Log log(memory.table());
        EXPECT_EQ(INGOT_SUCCESS, log.write(text));
        EXPECT_EQ(text, log.text());
    }
}

TEST(SinkWriteLog, BeginsEachTextOnALineOfItsOwn)
{
    FailingAllocator memory;
    Log log(memory.table());
    for (const char *text : {"one", "two\n", "", "\nthree\n", "four"})
        EXPECT_EQ(INGOT_SUCCESS, log.write(text));
    EXPECT_EQ("one\ntwo\n\nthree\nfour", log.text());
}

TEST(SinkWriteLog, RefusesNullAndTellsOfMissingMemory)
{
    FailingAllocator memory(0);
    Log log(memory.table());
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, log.write(nullptr));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_sink_write_log(nullptr, "text"));
    EXPECT_EQ(INGOT_OUT_OF_MEMORY, log.write("text"));
}

TEST(RefuseProgram, WritesTheSentenceToTheLogAndSetsIt)
{
    FailingAllocator memory;
    Log log(memory.table());
    EXPECT_EQ(INGOT_BUILD_FAILED, ingot_refuse_program(log.sink(), 7, "option %s", "-x"));
    EXPECT_EQ("option -x\n", log.text());
    EXPECT_STREQ("option -x", ingot_last_error_detail());
    EXPECT_EQ(7, ingot_last_error_code());
}

TEST(RefuseProgram, RefusesNullAndTellsOfMissingMemory)
{
    FailingAllocator memory(0);
    Log log(memory.table());
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_refuse_program(nullptr, 0, "text"));
    EXPECT_EQ(INGOT_OUT_OF_MEMORY, ingot_refuse_program(log.sink(), 0, "text"));
}

TEST(ContextInfoGetAllocator, GivesTheOneThatTheInfoNames)
{
    FailingAllocator memory;
    ingot_context_info_t info = INGOT_CONTEXT_INFO_INIT;
    info.allocator = memory.table();
    EXPECT_EQ(memory.table()->allocate, ingot_context_info_get_allocator(&info).allocate);
    EXPECT_EQ(memory.table()->user, ingot_context_info_get_allocator(&info).user);
}

TEST(ContextInfoGetAllocator, ReadsAnInfoOfAnOlderVersionAsFarAsItGoes)
{
    FailingAllocator memory;
    ingot_context_info_t info = INGOT_CONTEXT_INFO_INIT;
    info.allocator = memory.table();
    info.struct_size = offsetof(ingot_context_info_t, allocator) + sizeof(info.allocator);
    EXPECT_EQ(memory.table()->allocate, ingot_context_info_get_allocator(&info).allocate);
    info.struct_size = offsetof(ingot_context_info_t, allocator);
    EXPECT_EQ(nullptr, ingot_context_info_get_allocator(&info).allocate);
}

TEST(ContextInfoGetAllocator, StandsForTheCLibraryWhereThereIsNone)
{
    const ingot_context_info_t info = INGOT_CONTEXT_INFO_INIT;
    for (const ingot_context_info_t *given : {&info, static_cast<const ingot_context_info_t *>(nullptr)}) {
        const ingot_allocator_t allocator = ingot_context_info_get_allocator(given);
        EXPECT_EQ(nullptr, allocator.allocate);
        void *memory = ingot_allocate(&allocator, 8);
        ASSERT_NE(nullptr, memory);
        ingot_deallocate(&allocator, memory, 8);
    }
}

ingot_status_t copy_text(void *user, const ingot_build_request_t *request)
{
    const ingot_source_view_t &source = request->sources[0];
    static_cast<std::string *>(user)->assign(static_cast<const char *>(source.bytes), source.size);
    return INGOT_SUCCESS;
}

TEST(ProgramDescVisitRequest, GivesWhatTheCompilerGetsAsLongAsTheFilesAreThoseOfTheId)
{
    const ScratchDirectory scratch;
    const std::string file = scratch.path() / "included.h";
    std::ofstream(file) << "kernel twice x 2 *\n";
    ReferenceDevice device;
    const Context context = device.make();
    ProgramText program;
    program.sources = {"#include \"included.h\"\n"};
    program.compile_options = "-I" + scratch.path().string();
    const Desc desc = program.make(context);
    std::string text;
    ASSERT_EQ(INGOT_SUCCESS, ingot_program_desc_visit_request(desc.get(), copy_text, &text))
        << ingot_last_error_detail();
    EXPECT_NE(std::string::npos, text.find("kernel twice x 2 *\n")) << text;
    EXPECT_EQ(std::string::npos, text.find("#include")) << text;
    EXPECT_EQ(0u, device.counts.builds);

    std::ofstream(file) << "kernel twice x 3 *\n";
    EXPECT_EQ(INGOT_NOT_CACHEABLE, ingot_program_desc_visit_request(desc.get(), copy_text, &text));
    EXPECT_NE(std::string::npos, std::string(ingot_last_error_detail()).find("changed")) << ingot_last_error_detail();
}

TEST(ProgramDescVisitRequest, GivesATextWithoutIncludesAsItIs)
{
    ReferenceDevice device;
    const Context context = device.make();
    const ProgramText program;
    const Desc desc = program.make(context);
    std::string text;
    EXPECT_EQ(INGOT_SUCCESS, ingot_program_desc_visit_request(desc.get(), copy_text, &text));
    EXPECT_EQ(program.sources[0], text);
}

TEST(ProgramDescVisitRequest, ReturnsTheVisitorsFailureAndRefusesNull)
{
    ReferenceDevice device;
    const Context context = device.make();
    const Desc desc = ProgramText().make(context);
    const auto refuse = [](void *, const ingot_build_request_t *) { return INGOT_BUSY; };
    EXPECT_EQ(INGOT_BUSY, ingot_program_desc_visit_request(desc.get(), refuse, nullptr));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_program_desc_visit_request(nullptr, refuse, nullptr));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_program_desc_visit_request(desc.get(), nullptr, nullptr));
}

} // namespace
