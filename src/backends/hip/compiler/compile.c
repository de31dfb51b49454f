/*
 * compile.c - compiles a request to a binary for one architecture, without a GPU or a context.
 *
 * hipRTC compiles one source. The first versions cannot link, so several sources are compiled as one text, in their
 * order. Each begins with a line marker: hipRTC writes the text to a file with a random path, which would otherwise be
 * in its messages and in __FILE__.
 */
#include "backends/hip/compiler/compile.h"

#include <string.h>

#define UNNAMED "CompileSource" /* the file's name, without its path; context.c has it, too */
#define MARKER "#line 1 \""
#define BYTE_ORDER_MARK "\xef\xbb\xbf"

static ingot_status_t check_request(const ingot_build_request_t *request, ingot_sink_t *log)
{
    const bool is_code = request->sources[0].kind == INGOT_SOURCE_HIP_CODE;
    if (request->spec_constant_count > 0)
        return ingot_refuse_program(log, 0, "HIP has no specialization constants, but constant %u is given",
                                    (unsigned)request->spec_constants[0].id);
    if (request->link_options[strspn(request->link_options, " \t\n")] != '\0')
        return ingot_refuse_program(log, 0, "hipRTC takes no link options, but \"%s\" is given", request->link_options);
    for (size_t i = 1; i < request->source_count; ++i) {
        if (is_code || request->sources[i].kind == INGOT_SOURCE_HIP_CODE)
            return ingot_refuse_program(log, 0, "machine code cannot be linked with other sources");
    }
    if (is_code && request->name_expression_count > 0)
        return ingot_refuse_program(log, 0, "the name expression %s needs a HIP C++ source",
                                    request->name_expressions[0]);
    return INGOT_SUCCESS;
}

/* ---- the text ---- */

/* Joins the sources to one text, which ends with a NUL. */
static ingot_status_t join_sources(const struct rtc_target *target, const ingot_build_request_t *request,
                                   struct rtc_bytes *text)
{
    const size_t mark_size = strlen(BYTE_ORDER_MARK);
    size_t size = 1;
    for (size_t i = 0; i < request->source_count; ++i)
        size += strlen(MARKER) + 2 * strlen(request->sources[i].name) + strlen(UNNAMED) + request->sources[i].size + 3;
    const ingot_status_t status = rtc_bytes_init(text, &target->allocator, size);
    char *to = (char *)text->bytes;
    for (size_t i = 0; i < request->source_count && status == INGOT_SUCCESS; ++i) {
        const ingot_source_view_t *source = &request->sources[i];
        const bool has_mark = source->size >= mark_size && memcmp(source->bytes, BYTE_ORDER_MARK, mark_size) == 0;
        const size_t skipped = has_mark ? mark_size : 0;
        /* the line marker of the source, without characters that a name in it may not have */
        to = (char *)memcpy(to, MARKER, strlen(MARKER)) + strlen(MARKER);
        for (const char *from = source->name[0] != '\0' ? source->name : UNNAMED; *from != '\0'; ++from) {
            if (*from == '"' || *from == '\\')
                *to++ = '\\';
            *to++ = (unsigned char)*from < ' ' ? '?' : *from;
        }
        *to++ = '"';
        *to++ = '\n';
        memcpy(to, (const char *)source->bytes + skipped, source->size - skipped);
        to += source->size - skipped;
        if (i + 1 != request->source_count)
            *to++ = '\n';
    }
    return status;
}

/* ---- the compilation ---- */

ingot_status_t hip_hiprtc_open(unsigned major, struct rtc_compiler *hiprtc)
{
    static const struct library_symbol symbols[] = RTC_SYMBOLS("hiprtc", "Code");
    static const char *const names[] = {"libhiprtc", "libamdhip64"}; /* the older ones are a part of libamdhip64 */
    /* Each compilation sets the global options of LLVM. Libraries before ROCm 5.6 do not lock them, later ones do. */
    static pthread_mutex_t options = PTHREAD_MUTEX_INITIALIZER;
    *hiprtc = (struct rtc_compiler){.prefix = "hiprtc", .alone = &options};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); ++i) {
        if (library_open_newest(names[i], major, major, sizeof(symbols) / sizeof(symbols[0]), symbols, hiprtc) != 0)
            return INGOT_SUCCESS;
    }
    return ingot_set_error_detail(INGOT_UNIMPLEMENTED, "neither libhiprtc.so.%u nor libamdhip64.so.%u has hipRTC",
                                  major, major);
}

/* The application's architecture wins, because hipRTC fails if it gets two. */
static ingot_status_t set_architecture(const struct rtc_target *target, struct rtc_options *options, ingot_sink_t *log,
                                       size_t size, char *option)
{
    const char *given = rtc_options_take_architecture(options, "--offload-arch", "--gpu-architecture");
    const char *architecture = given != NULL ? given : target->architecture;
    const int length = snprintf(option, size, "--offload-arch=%s", architecture);
    if (length < 0 || (size_t)length >= size)
        return ingot_refuse_program(log, 0, "\"%.64s\" is not an architecture", architecture);
    rtc_options_add(options, option);
    return INGOT_SUCCESS;
}

static ingot_status_t compile_text(const struct rtc_target *target, const ingot_build_request_t *request,
                                   const struct rtc_options *options, ingot_sink_t *log, struct rtc_bytes *image)
{
    struct rtc_compiler hiprtc;
    struct rtc_bytes text = {0, NULL};
    struct rtc_bytes head = {0, NULL};
    struct rtc_bytes code = {0, NULL};
    struct rtc_image read;
    ingot_status_t status = hip_hiprtc_open(target->driver_major, &hiprtc);
    if (status == INGOT_SUCCESS)
        status = join_sources(target, request, &text);
    const ingot_source_view_t source = {INGOT_SOURCE_HIP_CPP, text.size, text.bytes, request->sources[0].name};
    const struct rtc_job job = {
        .allocator = &target->allocator,
        .compiler = &hiprtc,
        .format = &hip_code_object,
        .request = request,
        .source = &source,
        .expression_count = request->name_expression_count,
        .options = options,
        .log = log,
    };
    if (status == INGOT_SUCCESS)
        status = rtc_compile(&job, &head, &code);
    if (status == INGOT_SUCCESS &&
        rtc_image_read(&read, &hip_code_object, target->architecture, code.size, code.bytes) != INGOT_SUCCESS)
        status = ingot_refuse_program(log, 0, "the options produce no machine code; remove -fgpu-rdc or -emit-llvm");
    if (status == INGOT_SUCCESS)
        status = rtc_image_join(image, &target->allocator, &head, &code);
    rtc_bytes_fini(&text, &target->allocator);
    rtc_bytes_fini(&head, &target->allocator);
    rtc_bytes_fini(&code, &target->allocator);
    return status;
}

static ingot_status_t copy_code(const struct rtc_target *target, const ingot_source_view_t *source, ingot_sink_t *log,
                                struct rtc_bytes *image)
{
    struct rtc_image read;
    if (rtc_image_read(&read, &hip_code_object, target->architecture, source->size, source->bytes) != INGOT_SUCCESS ||
        read.code != source->bytes) /* an image with name expressions */
        return ingot_refuse_program(
            log, 0, "the source is not a code object, or a fat binary without compression that has one for %s",
            target->architecture);
    const ingot_status_t status = rtc_bytes_init(image, &target->allocator, source->size);
    if (status == INGOT_SUCCESS)
        memcpy(image->bytes, source->bytes, source->size);
    return status;
}

ingot_status_t hip_compile(const struct rtc_target *target, const ingot_build_request_t *request, ingot_sink_t *log,
                           struct rtc_bytes *image)
{
    struct rtc_options options = {NULL, 0, 0, NULL, 0};
    char architecture[96];
    ingot_status_t status = check_request(request, log);
    if (status == INGOT_SUCCESS && request->sources[0].kind == INGOT_SOURCE_HIP_CODE)
        return copy_code(target, &request->sources[0], log, image);
    if (status == INGOT_SUCCESS)
        status = rtc_options_init(&options, &target->allocator, request->compile_options, "", 1);
    if (status == INGOT_SUCCESS)
        status = set_architecture(target, &options, log, sizeof(architecture), architecture);
    if (status == INGOT_SUCCESS)
        status = compile_text(target, request, &options, log, image);
    rtc_options_fini(&options, &target->allocator);
    return status;
}
