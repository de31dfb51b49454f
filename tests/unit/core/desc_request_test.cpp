/*
 * desc_request_test.cpp - serializes descriptors as requests and makes descriptors from these, also from requests that
 * a stranger composed so that the compiler reads or writes a file.
 */
#include <ingot/private/descriptor.h>

#include "support/reference_context.h"
#include "support/scratch_directory.h"
#include "support/whole_file.h"

extern "C" {
#include "core/descriptor/request.h"
}

namespace
{

using Bytes = std::vector<uint8_t>;

ingot_status_t get_request(const Desc &desc, Bytes *bytes)
{
    ingot_buffer_t buffer = INGOT_BUFFER_INIT;
    const ingot_status_t status = ingot_program_desc_get_request(desc.get(), &buffer);
    if (status != INGOT_SUCCESS)
        return status;
    bytes->assign(buffer.bytes, buffer.bytes + buffer.size);
    buffer.release(&buffer);
    return status;
}

Bytes request_of(const Desc &desc)
{
    Bytes bytes;
    EXPECT_EQ(INGOT_SUCCESS, get_request(desc, &bytes)) << ingot_last_error_detail();
    return bytes;
}

ingot_status_t create_from(const Context &context, const Bytes &request, Desc *desc = nullptr)
{
    ingot_program_desc_t made = nullptr;
    const ingot_status_t status = ingot_program_desc_create_from_request(&made, context.get(), request.size(),
                                                                         request.data(), 0, nullptr, nullptr);
    Desc held(made);
    if (desc != nullptr)
        *desc = std::move(held);
    return status;
}

/* What a stranger may write. */
struct Forged {
    std::string source = "kernel f x\n", options = "", link_options = "", header = "h.h", expression = "";
    ingot_source_kind_t kind = INGOT_SOURCE_OWN_TEXT;
    bool names_matter = false;

    Bytes bytes(const char *backend = "reference") const
    {
        const ingot_source_view_t view = {kind, source.size(), source.data(), "name"};
        const ingot_source_view_t of_header = {INGOT_SOURCE_HEADER, 2, "x\n", header.c_str()};
        const char *name = expression.c_str();
        struct request whole = {};
        whole.form = REQUEST_OF_TEXTS;
        whole.names_matter = names_matter;
        whole.build.sources = &view;
        whole.build.source_count = 1;
        whole.build.headers = &of_header;
        whole.build.header_count = 1;
        whole.build.compile_options = options.c_str();
        whole.build.link_options = link_options.c_str();
        whole.build.name_expressions = &name;
        whole.build.name_expression_count = expression.empty() ? 0 : 1;
        bytes_writer out;
        bytes_writer_init(&out, &memory_c_allocator);
        request_write_head(&out, backend);
        request_write(&out, REQUEST_OF_TEXTS, &whole);
        Bytes written(out.bytes, out.bytes + out.size);
        bytes_writer_fini(&out);
        return written;
    }
};

class DescRequest : public testing::Test
{
protected:
    void SetUp() override
    {
        before_ = std::filesystem::current_path();
        std::filesystem::current_path(scratch_.path());
    }
    void TearDown() override { std::filesystem::current_path(before_); }

    static void write(const std::string &path, const std::string &text) { whole_file::write(path, text); }

    /* Expects that a request of this program makes the same id in another context. Returns the request. */
    Bytes expect_same(const ProgramText &text)
    {
        const Context context = device_.make();
        const Desc desc = text.make(context);
        const Bytes request = request_of(desc);
        std::filesystem::create_directory("elsewhere");
        std::filesystem::current_path("elsewhere"); /* where no file is found */
        Desc made;
        const Context other = device_.make();
        EXPECT_EQ(INGOT_SUCCESS, create_from(other, request, &made)) << ingot_last_error_detail();
        std::filesystem::current_path("..");
        EXPECT_EQ(id_of(desc), id_of(made));
        Bytes again;
        EXPECT_EQ(INGOT_SUCCESS, get_request(made, &again)) << ingot_last_error_detail();
        EXPECT_EQ(request, again) << "a request of what a request made";
        return request;
    }

    ReferenceDevice device_;
    ScratchDirectory scratch_;
    std::filesystem::path before_;
};

} // namespace

TEST_F(DescRequest, MakesTheSameProgram)
{
    ProgramText text;
    expect_same(text);
    text.headers = {{"a.h", "kernel a x\n"}};
    text.compile_options = "-DA=1";
    text.link_options = "-DB=1";
    text.constants = {{1, 5}, {2, 7}};
    text.sources.push_back("kernel third x\n");
    expect_same(text);
    text.kind = INGOT_SOURCE_OWN_BINARY;
    text.headers.clear();
    expect_same(text);
}

TEST_F(DescRequest, HasTheTextsOfIncludedFiles)
{
    write("inc/x.h", "#pragma once\n#include \"y.h\"\n");
    write("inc/y.h", "kernel included x\n");
    ProgramText text;
    text.sources = {"#include <x.h>\n#include <x.h>\nkernel f x\n#ifdef NEVER\n#include <none.h>\n#endif\n"};
    text.compile_options = "-I inc -DA";
    const Bytes request = expect_same(text);
    const std::string bytes(request.begin(), request.end());
    EXPECT_NE(std::string::npos, bytes.find("kernel included x"));
    EXPECT_EQ(std::string::npos, bytes.find("-I"));
    EXPECT_EQ(std::string::npos, bytes.find(scratch_.path().string()));
    text.sources[0] += "__FILE__\n";
    expect_same(text);
}

TEST_F(DescRequest, TakesNoOptionsOfTheEnvironmentTwice)
{
    setenv("INGOT_COMPILE_OPTIONS", "-DE=1", 1);
    const Context first = device_.make(INGOT_CONTEXT_INFO_INIT, true);
    const Desc desc = ProgramText().make(first);
    const Bytes request = request_of(desc);
    setenv("INGOT_COMPILE_OPTIONS", "-DOTHER=1", 1);
    const Context second = device_.make(INGOT_CONTEXT_INFO_INIT, true);
    unsetenv("INGOT_COMPILE_OPTIONS");
    Desc made;
    ASSERT_EQ(INGOT_SUCCESS, create_from(second, request, &made));
    EXPECT_EQ(id_of(desc), id_of(made));
    const Program program = create_program(made);
    EXPECT_EQ(9, run(create_kernel(program, "square"), 3));
    EXPECT_NE(create_program(ProgramText().make(second)).get(), program.get()) << "not equal in memory, either";
}

TEST_F(DescRequest, IsRefusedWhereAnotherMachineCannotBuildIt)
{
    const Context context = device_.make();
    Bytes bytes;
    ProgramText text;
    text.sources = {"kernel f x __TIME__\n"};
    EXPECT_EQ(INGOT_NOT_CACHEABLE, get_request(text.make(context), &bytes));
    text.sources = {"kernel f x\n"};
    text.compile_options = "-g";
    EXPECT_EQ(INGOT_NOT_CACHEABLE, get_request(text.make(context), &bytes)) << "names the current directory";
    write("x.h", "kernel g x\n");
    const std::string path = (scratch_.path() / "x.h").string();
    text.compile_options = "";
    text.sources = {"#include \"" + path + "\"\n__FILE__\n"};
    EXPECT_EQ(INGOT_NOT_CACHEABLE, get_request(text.make(context), &bytes)) << "has an absolute path";
    text.sources = {"#include \"x.h\"\n"};
    const Desc desc = text.make(context);
    write("x.h", "kernel h x\n");
    EXPECT_EQ(INGOT_NOT_CACHEABLE, get_request(desc, &bytes)) << "a file changed";
}

TEST_F(DescRequest, OfAStrangerReadsNoFile)
{
    const Context context = device_.make();
    write("x.h", "kernel stolen x\n");
    write("h.h", "kernel stolen x\n");
    EXPECT_EQ(INGOT_SUCCESS, create_from(context, Forged().bytes())) << ingot_last_error_detail();
    const std::string texts[] = {"#include \"x.h\"\n",
                                 "#include <h.h>\n",
                                 "  #  include MACRO\n",
                                 "%:include \"x.h\"\n",
                                 "#inc\\\nlude \"x.h\"\n",
                                 "#if 0\n#include \"x.h\"\n#endif\n",
                                 "#import \"x.h\"\n",
                                 "#include_next <x.h>\n",
                                 "#embed \"x.h\"\n",
                                 "#if __has_include(\"x.h\")\n#endif\n",
                                 "#define H __has_include\n",
                                 "#define CAT(a, b) a##b\n#if CAT(__has_, include)(\"x.h\")\n#endif\n",
                                 "_Pragma(DEPENDENCY)\n",
                                 "#pragma GCC dependency \"x.h\"\n",
                                 "#pragma include_alias(\"a\", \"x.h\")\n",
                                 "asm(\".incbin \\\"x.h\\\"\");\n",
                                 "/* */ # /* */ include \"x.h\"\n",
                                 "\xef\xbb\xbf#include \"x.h\"\n",
                                 "?\?=include \"x.h\"\n",
                                 "__TIME__\n",
                                 "# 1 \"INGOT_NO_ASM\" 1\n#include \"x.h\"\n"};
    for (const std::string &text : texts) {
        Forged forged;
        forged.source = text;
        EXPECT_EQ(INGOT_NOT_CACHEABLE, create_from(context, forged.bytes())) << text;
    }
    for (const char *options : {"-I.", "-I .", "-include x.h", "@x.h", "-isystem .", "--use-pch=x", "-g", "-unknown"}) {
        Forged forged;
        forged.options = options;
        EXPECT_EQ(INGOT_NOT_CACHEABLE, create_from(context, forged.bytes())) << options;
    }
    for (const char *options : {"-I.", "/etc/passwd", "@x", "-include x", "-Xptxas=-optf=x", "--options-file x",
                                "-optf x", "-igc_opts 'ShaderDumpEnable=1'", "-dump=x", "-cl-x=\"x\"", "x", "-lto=x"}) {
        Forged forged;
        forged.link_options = options;
        EXPECT_EQ(INGOT_NOT_CACHEABLE, create_from(context, forged.bytes())) << options;
        forged = {};
        forged.kind = INGOT_SOURCE_OWN_BINARY;
        forged.options = options;
        EXPECT_EQ(INGOT_NOT_CACHEABLE, create_from(context, forged.bytes())) << options;
    }
    for (const char *options : {"-cl-fast-relaxed-math", "-ze-opt-level 2", " -lto  -O3 -DA=1 -w "}) {
        Forged forged;
        forged.link_options = options;
        EXPECT_EQ(INGOT_SUCCESS, create_from(context, forged.bytes())) << ingot_last_error_detail();
        forged = {};
        forged.kind = INGOT_SOURCE_OWN_BINARY;
        forged.options = options;
        EXPECT_EQ(INGOT_SUCCESS, create_from(context, forged.bytes())) << ingot_last_error_detail();
    }
    for (const char *name : {"/etc/x", "../x", "a/../../x", "a/..", "..", "a\nb", "a\\b"}) {
        Forged forged;
        forged.header = name;
        EXPECT_EQ(INGOT_NOT_CACHEABLE, create_from(context, forged.bytes())) << name;
    }
    device_.name_expressions = true;
    const Context taking = device_.make();
    Forged forged;
    forged.expression = "f\n#include \"x.h\"";
    EXPECT_EQ(INGOT_NOT_CACHEABLE, create_from(taking, forged.bytes()));
}

TEST_F(DescRequest, OfAStrangerSaysWhetherNamesMatter)
{
    const Context context = device_.make();
    Forged forged;
    forged.source = "kernel f x\n__FILE__\n";
    EXPECT_EQ(INGOT_NOT_CACHEABLE, create_from(context, forged.bytes()));
    forged.names_matter = true;
    EXPECT_EQ(INGOT_SUCCESS, create_from(context, forged.bytes())) << ingot_last_error_detail();
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, create_from(context, Forged().bytes("another")));
}

TEST_F(DescRequest, IsNeverBuiltNatively)
{
    write("x.h", "kernel f x\n");
    const Context context = device_.make();
    ProgramText text;
    text.sources = {"#include <y.h>\nkernel g x\n"}; /* not found, so the hermetic build fails */
    const Desc desc = text.make(context);
    Desc made;
    ASSERT_EQ(INGOT_SUCCESS, create_from(context, request_of(desc), &made)) << ingot_last_error_detail();
    write("y.h", "kernel f x\n");
    ingot_program_t program = nullptr;
    EXPECT_EQ(INGOT_BUILD_FAILED, ingot_program_get(&program, made.get(), 0));
}
