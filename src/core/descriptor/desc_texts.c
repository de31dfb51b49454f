/*
 * desc_texts.c - replaces the #include directives of text sources with the contents of the included files; see
 * desc_texts.h.
 */
#include "core/descriptor/desc_texts.h"

#include <string.h>

#include "core/base/error.h"
#include "core/base/os_file.h"
#include "core/descriptor/request.h"
#include "core/hermetic/option_words.h"
#include "core/hermetic/text_digests.h"

/* ---- when the descriptor is made ---- */

static ingot_status_t refuse_option(struct hermetic *hermetic, const char *what, const struct option *option)
{
    struct bytes_writer reason;
    bytes_writer_init(&reason, hermetic->files.allocator);
    bytes_print(&reason, "%s%.*s%s%s", what, (int)option->size, option->start, option->problem != NULL ? ", " : "",
                option->problem != NULL ? option->problem : "");
    hermetic->reason = bytes_take_text(&reason);
    return hermetic->reason != NULL ? INGOT_SUCCESS : error_out_of_memory();
}

/* Checks all options that apply: those of the program, of Ingot's environment variables, and of the compiler's
 * environment variables. Adds them to the survey. If an option is unknown, sets the reason why the program
 * is not cacheable. */
static ingot_status_t check_applied_options(struct hermetic *hermetic, const struct ingot_program_desc *desc,
                                            struct arena *arena, struct option_survey *survey)
{
    const struct ingot_context *context = desc->context;
    const char *of_variables = context->text_rules.variable_options;
    const ingot_text_rules_t *rules = &context->text_rules.of_backend;
    struct option_survey variables = {.has_directory = false};
    option_survey_add(survey, rules, arena, desc->compile_options);
    if (!desc->is_final)
        option_survey_add(survey, rules, arena, context->compile_options);
    option_survey_add(&variables, rules, arena, of_variables);
    survey->defines_special_name = survey->defines_special_name || variables.defines_special_name;
    survey->keeps_names = survey->keeps_names || variables.keeps_names;
    if (arena->failed)
        return error_out_of_memory();
    if (survey->unknown.kind == OPTION_UNKNOWN)
        return refuse_option(hermetic, "the options have ", &survey->unknown);
    if (variables.unknown.kind == OPTION_UNKNOWN)
        return refuse_option(hermetic, "a variable of the compiler has the option ", &variables.unknown);
    /* Ingot cannot remove options from an environment variable, and the compiler has its own rules for quotes there. */
    const bool is_odd = variables.has_directory || strpbrk(of_variables, "\"'\\") != NULL;
    const struct option all = {.start = of_variables, .size = strlen(of_variables)};
    return is_odd ? refuse_option(hermetic, "a variable of the compiler has the options ", &all) : INGOT_SUCCESS;
}

static ingot_status_t resolve_texts(struct hermetic *hermetic, const struct ingot_program_desc *desc,
                                    const ingot_build_request_t *request)
{
    const struct ingot_context *context = desc->context;
    const struct hermetic_input input = {.rules = &context->text_rules.of_backend,
                                         .sources = request->sources,
                                         .source_count = request->source_count,
                                         .headers = request->headers,
                                         .header_count = request->header_count,
                                         .options = {desc->compile_options,
                                                     desc->is_final ? "" : context->compile_options,
                                                     context->text_rules.variable_options},
                                         .is_final = desc->is_final};
    return hermetic_resolve(hermetic, &input);
}

static void put_source(struct bytes_writer *out, const struct ingot_source *source)
{
    uint8_t digest[DIGEST_SIZE];
    source_get_digest(source, digest);
    bytes_put_u32(out, (uint32_t)source->kind);
    bytes_put(out, sizeof(digest), digest);
    bytes_put_framed_text(out, source->name);
}

/* Computes the key under which the memo remembers the result: a digest of everything that the result depends on, except
 * for the file system's answers, the user and the groups. These are the texts with their names, options and headers,
 * and the compiler's rules. Returns false if out of memory. */
static bool make_memo_key(const struct ingot_program_desc *desc, uint8_t key[DIGEST_SIZE])
{
    const struct ingot_context *context = desc->context;
    struct bytes_writer out;
    bytes_writer_init(&out, &context->allocator);
    bytes_put(&out, DIGEST_SIZE, context->text_rules.digest);
    bytes_put_framed_text(&out, desc->compile_options);
    bytes_put_framed_text(&out, context->compile_options);
    bytes_put_u64(&out, desc->source_count);
    for (size_t i = 0; i < desc->source_count; ++i)
        put_source(&out, desc->sources[i]);
    bytes_put_u64(&out, desc->header_count);
    for (size_t i = 0; i < desc->header_count; ++i)
        put_source(&out, desc->sources[desc->source_count + i]);
    return digest_of_written(&out, key);
}

/* Takes a result that the memo remembered: the framed digests, then the files. Returns false if it is not one for this
 * number of sources. */
static bool take_remembered(struct hermetic *hermetic, const struct bytes_writer *result, size_t source_count)
{
    struct bytes_reader reader;
    struct text_digests digests;
    size_t size = 0;
    bytes_reader_init(&reader, result->size, result->bytes);
    const uint8_t *bytes = bytes_get_framed(&reader, &size);
    if (bytes == NULL || !text_digests_read(&digests, size, bytes, source_count))
        return false;
    bytes_put(&hermetic->digests, size, bytes);
    size = bytes_left(&reader);
    bytes_put(&hermetic->files, size, bytes_get(&reader, size));
    return true;
}

/* Resolves the includes, or finds an earlier result in the memo that is still valid. */
static ingot_status_t resolve_new(struct hermetic *hermetic, const struct ingot_program_desc *desc, struct arena *arena)
{
    struct ingot_header_memo *memo = !desc->is_final ? desc->context->header_memo : NULL;
    uint8_t key[DIGEST_SIZE];
    struct bytes_writer result;
    ingot_build_request_t request;
    ingot_status_t status = INGOT_SUCCESS;

    bytes_writer_init(&result, arena->allocator);
    const bool has_key = memo != NULL && make_memo_key(desc, key);
    if (!has_key || !header_memo_lookup(memo, key, &result) ||
        !take_remembered(hermetic, &result, desc->source_count)) {
        if (memo != NULL)
            header_memo_watch(memo, &hermetic->witness);
        status = desc_request_init(&request, desc, arena);
        if (status == INGOT_SUCCESS)
            status = resolve_texts(hermetic, desc, &request);
        result.size = 0;
        bytes_put_framed(&result, hermetic->digests.size, hermetic->digests.bytes);
        bytes_put(&result, hermetic->files.size, hermetic->files.bytes);
        if (status == INGOT_SUCCESS && has_key && hermetic->reason == NULL)
            header_memo_learn(memo, key, &hermetic->witness, &result);
    }
    bytes_writer_fini(&result);
    return hermetic->digests.failed || hermetic->files.failed ? error_out_of_memory() : status;
}

/* Checks what the texts of a request show against what the request says. Keeps that names matter if it says so. */
static ingot_status_t check_request(struct hermetic *hermetic, const struct ingot_program_desc *desc,
                                    const struct request *request, bool has_directories)
{
    if (has_directories)
        return error_set(INGOT_NOT_CACHEABLE, "an option names a directory");
    if (hermetic->names_matter && !request->names_matter)
        return error_set(INGOT_NOT_CACHEABLE, "the result has names, but the request says that it has none");
    if (request->names_matter)
        text_digests_begin(&hermetic->digests, true, NULL);
    for (size_t i = 0; i < desc->source_count && request->names_matter; ++i)
        text_digests_put(&hermetic->digests, true, desc->sources[i]->name, NULL, 0);
    return hermetic->digests.failed ? error_out_of_memory() : INGOT_SUCCESS;
}

ingot_status_t desc_texts_resolve(struct hermetic *hermetic, const struct ingot_program_desc *desc,
                                  const struct request *request, bool *has_directories)
{
    struct option_survey survey = {.has_directory = false};
    struct arena arena;
    bool has_text = false; /* in a language with includes */

    for (size_t i = 0; i < desc->source_count; ++i)
        has_text = has_text || desc->sources[i]->is_text;
    if (!has_text)
        return INGOT_SUCCESS;
    arena_init(&arena, &desc->context->allocator);
    ingot_status_t status = check_applied_options(hermetic, desc, &arena, &survey);
    *has_directories = survey.has_directory;
    hermetic->must_look = survey.defines_special_name || survey.keeps_names;
    for (size_t i = 0; i < (size_t)desc->source_count + desc->header_count; ++i)
        hermetic->must_look = hermetic->must_look || desc->sources[i]->may_include;
    if (status == INGOT_SUCCESS && hermetic->reason == NULL && hermetic->must_look)
        status = resolve_new(hermetic, desc, &arena);
    if (status == INGOT_SUCCESS && hermetic->reason == NULL && request != NULL)
        status = check_request(hermetic, desc, request, *has_directories);
    arena_fini(&arena);
    return status;
}

/* ---- when the program is compiled ---- */

ingot_status_t hermetic_request_make(struct hermetic_request *request, const struct ingot_program_desc *desc,
                                     const ingot_build_request_t *native, struct arena *arena)
{
    struct hermetic *hermetic = &request->hermetic;
    const size_t size = desc->digests_size;
    ingot_status_t status = INGOT_SUCCESS;

    if (desc->not_cacheable != NULL || desc->is_final || (desc->digests_size == 0 && !desc->has_directories))
        return INGOT_SUCCESS;
    if (native_builds_has(desc->context->native_builds, desc->key_hash)) {
        request->refusal = "its text without includes did not build earlier in this process, for the reason given then";
        return INGOT_SUCCESS;
    }
    request->request = *native;
    status = desc_request_keep_options(&request->request, desc, arena);
    if (status == INGOT_SUCCESS && size != 0) {
        status = resolve_texts(hermetic, desc, native);
        if (status != INGOT_SUCCESS)
            return status;
        const bool is_same = hermetic->reason == NULL && hermetic->digests.size == size &&
                             memcmp(hermetic->digests.bytes, program_desc_digests(desc), size) == 0;
        ingot_source_view_t *views = is_same ? arena_take(arena, native->source_count * sizeof(*views)) : NULL;
        if (is_same && views == NULL)
            return error_out_of_memory();
        if (!is_same)
            request->refusal = "a file that the sources include changed since the descriptor was made";
        /* The resolved texts replace the sources that have includes. Embedded headers are kept, because a driver treats
         * a request with headers differently. */
        const char *text = (const char *)hermetic->texts.bytes;
        for (size_t i = 0; views != NULL && i < native->source_count; ++i) {
            views[i] = native->sources[i];
            if (hermetic_kind_has_includes(views[i].kind)) {
                views[i].bytes = text;
                views[i].size = strlen(text);
            }
            text += strlen(text) + 1;
        }
        if (views != NULL)
            request->request.sources = views;
    }
    request->is_there = status == INGOT_SUCCESS && request->refusal == NULL;
    return status;
}
