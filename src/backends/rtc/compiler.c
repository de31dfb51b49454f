/*
 * compiler.c - compiles one C++ source to machine code; see compiler.h.
 *
 * Opening a library that is already open costs only a few look-ups, far less than a compilation. So backends cache
 * nothing, and there is nothing to lock. Many threads may call a compiler at once, each with its own program.
 */
#include "backends/rtc/compiler.h"

#include <limits.h>
#include <stdbool.h>
#include <string.h>

/* Codes that both compilers have. */
enum {
    RTC_SUCCESS = 0,
    RTC_OUT_OF_MEMORY = 1,
    RTC_INVALID_OPTION = 5,
    RTC_COMPILATION = 6,
    RTC_NAME_EXPRESSION_NOT_VALID = 10,
    RTC_LINKING = 100 /* of hipRTC */
};

static bool is_white_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Copies one word to `out`, without its quotes and with a NUL, and advances both pointers. Blanks end a word, unless a
 * quote or a backslash protects them: the core splits options in the same way when it looks for -I and -D. Returns
 * false at the end of the text. */
static bool next_word(const char **text, char **out)
{
    const char *from = *text;
    char *to = *out;
    char quote = '\0';
    while (is_white_space(*from))
        ++from;
    if (*from == '\0')
        return false;
    for (; *from != '\0' && (quote != '\0' || !is_white_space(*from)); ++from) {
        if (*from == '\\' && from[1] != '\0' && quote != '\'')
            *to++ = *++from;
        else if (quote != '\0' ? *from == quote : *from == '"' || *from == '\'')
            quote = quote != '\0' ? '\0' : *from;
        else
            *to++ = *from;
    }
    *to++ = '\0';
    *text = from;
    *out = to;
    return true;
}

static void split_words(struct rtc_options *options, const char *text, char **place)
{
    for (;;) {
        char *word = *place;
        if (!next_word(&text, place))
            return;
        if (*word != '\0') /* empty words are skipped, because the compilers refuse them */
            options->words[options->count++] = word;
    }
}

ingot_status_t rtc_options_init(struct rtc_options *options, const ingot_allocator_t *allocator, const char *first,
                                const char *second, size_t room)
{
    const size_t length = strlen(first) + strlen(second);
    char *place = NULL;
    memset(options, 0, sizeof(*options));
    options->capacity = length / 2 + 2 + room; /* a word and the blank after it have two characters or more */
    options->chars_size = length + 2;
    options->words = ingot_allocate(allocator, options->capacity * sizeof(*options->words));
    options->chars = ingot_allocate(allocator, options->chars_size);
    if (options->words == NULL || options->chars == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for %zu bytes of options", length);
    place = options->chars;
    split_words(options, first, &place);
    split_words(options, second, &place);
    return INGOT_SUCCESS;
}

void rtc_options_fini(struct rtc_options *options, const ingot_allocator_t *allocator)
{
    ingot_deallocate(allocator, (void *)options->words, options->capacity * sizeof(*options->words));
    ingot_deallocate(allocator, options->chars, options->chars_size);
    memset(options, 0, sizeof(*options));
}

void rtc_options_add(struct rtc_options *options, const char *word)
{
    options->words[options->count++] = word;
}

/* True if the word at this position is the option. Its value follows a '=' or is the next word. */
static bool read_option(const struct rtc_options *options, size_t at, const char *name, const char **value,
                        size_t *word_count)
{
    const char *word = options->words[at];
    const size_t length = strlen(name);
    if (strncmp(word, name, length) != 0)
        return false;
    if (word[length] == '=') {
        *value = word + length + 1;
        *word_count = 1;
        return true;
    }
    if (word[length] != '\0' || at + 1 == options->count)
        return false;
    *value = options->words[at + 1];
    *word_count = 2;
    return true;
}

const char *rtc_options_take_architecture(struct rtc_options *options, const char *name, const char *short_name)
{
    const char *architecture = NULL;
    size_t kept = 0;
    size_t word_count = 0;
    for (size_t i = 0; i < options->count; i += word_count) {
        if (!read_option(options, i, name, &architecture, &word_count) &&
            !read_option(options, i, short_name, &architecture, &word_count)) {
            options->words[kept++] = options->words[i];
            word_count = 1;
        }
    }
    options->count = kept;
    return architecture;
}

static ingot_status_t fail_call(const struct rtc_compiler *compiler, const char *call, int result)
{
    ingot_status_t status = INGOT_BACKEND_ERROR;
    switch (result) {
    case RTC_OUT_OF_MEMORY: status = INGOT_OUT_OF_MEMORY; break;
    case RTC_COMPILATION:
    case RTC_INVALID_OPTION:
    case RTC_NAME_EXPRESSION_NOT_VALID:
    case RTC_LINKING: status = INGOT_BUILD_FAILED; break;
    default: break;
    }
    return ingot_set_error(status, (int64_t)result, "%s%s: %s (%d)", compiler->prefix, call,
                           compiler->error_string(result), result);
}

/* Creates the compiler's program. It takes the headers as two arrays: their texts, and their names. */
static ingot_status_t create_program(const struct rtc_job *job, void **program)
{
    const struct rtc_compiler *compiler = job->compiler;
    const size_t count = job->request->header_count;
    const size_t size = (2 * count + 1) * sizeof(char *); /* not 0, even without headers */
    const char **texts = ingot_allocate(job->allocator, size);
    if (texts == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for %zu headers", count);
    const char **names = texts + count;
    for (size_t i = 0; i < count; ++i) {
        texts[i] = job->request->headers[i].bytes;
        names[i] = job->request->headers[i].name;
    }
    const char *name = job->source->name[0] != '\0' ? job->source->name : NULL;
    const int result = compiler->create(program, job->source->bytes, name, (int)count, texts, names);
    ingot_deallocate(job->allocator, (void *)texts, size);
    return result == RTC_SUCCESS ? INGOT_SUCCESS : fail_call(compiler, "CreateProgram", result);
}

static ingot_status_t add_expressions(const struct rtc_job *job, void *program)
{
    const struct rtc_compiler *compiler = job->compiler;
    for (size_t i = 0; i < job->expression_count; ++i) {
        const int result = compiler->add_name_expression(program, job->request->name_expressions[i]);
        if (result != RTC_SUCCESS)
            return fail_call(compiler, "AddNameExpression", result);
    }
    return INGOT_SUCCESS;
}

static ingot_status_t take_log(const struct rtc_job *job, void *program)
{
    const struct rtc_compiler *compiler = job->compiler;
    size_t size = 0;
    int result = compiler->log_size(program, &size);
    if (result != RTC_SUCCESS)
        return fail_call(compiler, "GetProgramLogSize", result);
    struct rtc_bytes text = {0, NULL};
    ingot_status_t status = rtc_bytes_init(&text, job->allocator, size + 1); /* with room for a NUL */
    if (status != INGOT_SUCCESS)
        return status;
    result = size > 0 ? compiler->log(program, (char *)text.bytes) : RTC_SUCCESS;
    status = result == RTC_SUCCESS ? ingot_sink_write_log(job->log, (const char *)text.bytes)
                                   : fail_call(compiler, "GetProgramLog", result);
    rtc_bytes_fini(&text, job->allocator);
    return status;
}

static ingot_status_t compile_program(const struct rtc_job *job, void *program)
{
    const struct rtc_compiler *compiler = job->compiler;
    if (job->options->count > INT_MAX)
        return ingot_refuse_program(job->log, 0, "%zu options are more than the compiler accepts", job->options->count);
    if (compiler->alone != NULL)
        pthread_mutex_lock(compiler->alone);
    const int result = compiler->compile(program, (int)job->options->count, job->options->words);
    if (compiler->alone != NULL)
        pthread_mutex_unlock(compiler->alone);
    const ingot_status_t status = take_log(job, program);
    if (result == RTC_SUCCESS || status != INGOT_SUCCESS)
        return status;
    return fail_call(compiler, "CompileProgram", result);
}

static ingot_status_t take_lowered_names(const struct rtc_job *job, void *program, struct rtc_bytes *head)
{
    const struct rtc_compiler *compiler = job->compiler;
    const size_t count = job->expression_count;
    const size_t size = count * sizeof(char *);
    ingot_status_t status = INGOT_SUCCESS;
    if (count == 0)
        return INGOT_SUCCESS;
    const char **lowered_names = ingot_allocate(job->allocator, size);
    if (lowered_names == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for %zu names", count);
    for (size_t i = 0; i < count && status == INGOT_SUCCESS; ++i) {
        const int result = compiler->lowered_name(program, job->request->name_expressions[i], &lowered_names[i]);
        if (result != RTC_SUCCESS)
            status = fail_call(compiler, "GetLoweredName", result);
    }
    if (status == INGOT_SUCCESS)
        status = rtc_image_write_head(head, job->format, job->allocator, count, job->request->name_expressions,
                                      lowered_names);
    ingot_deallocate(job->allocator, (void *)lowered_names, size);
    return status;
}

static ingot_status_t take_code(const struct rtc_job *job, void *program, struct rtc_bytes *code)
{
    const struct rtc_compiler *compiler = job->compiler;
    size_t size = 0;
    int result = compiler->code_size(program, &size);
    if (result != RTC_SUCCESS)
        return fail_call(compiler, "GetCodeSize", result);
    if (size == 0)
        return ingot_refuse_program(job->log, 0,
                                    "the options produce no machine code; remove an architecture compute_XX or -dlto");
    const ingot_status_t status = rtc_bytes_init(code, job->allocator, size);
    if (status != INGOT_SUCCESS)
        return status;
    result = compiler->code(program, (char *)code->bytes);
    if (result == RTC_SUCCESS)
        return INGOT_SUCCESS;
    rtc_bytes_fini(code, job->allocator);
    return fail_call(compiler, "GetCode", result);
}

ingot_status_t rtc_compile(const struct rtc_job *job, struct rtc_bytes *head, struct rtc_bytes *code)
{
    void *program = NULL;
    ingot_status_t status = create_program(job, &program);
    if (status == INGOT_SUCCESS)
        status = add_expressions(job, program);
    if (status == INGOT_SUCCESS)
        status = compile_program(job, program);
    if (status == INGOT_SUCCESS)
        status = take_lowered_names(job, program, head);
    if (status == INGOT_SUCCESS)
        status = take_code(job, program, code);
    if (program != NULL)
        (void)job->compiler->destroy(&program);
    return status;
}
