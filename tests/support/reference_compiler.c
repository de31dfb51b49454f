/*
 * reference_compiler.c - the compiler of the reference backend; see reference_compiler.h.
 */
#include "reference_compiler.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    MAGIC_SIZE = REFERENCE_TARGET_AT,
    TARGET_SIZE = REFERENCE_TARGET_SIZE,
    HEADER_SIZE = MAGIC_SIZE + TARGET_SIZE,
    NAME_SIZE = 32,
    KERNEL_SIZE = NAME_SIZE + 4,
    OPERATION_SIZE = 9,
    LINE_SIZE = 1024,
    STACK_SIZE = 64,
    FILE_SIZE = 65536,
    PATH_SIZE = 4096,
    MAX_DEPTH = 16,
    MAX_DEFINITIONS = 64,
    SECONDS_OF_A_DAY = 86400
};

struct definition {
    char name[NAME_SIZE];
    int64_t value;
};

struct compiler {
    const ingot_build_request_t *request;
    struct reference_code *code;
    size_t kernel; /* offset of the kernel being compiled */
    ingot_sink_t *log;
    unsigned depth; /* of includes and calls */
    size_t definition_count;
    struct definition definitions[MAX_DEFINITIONS]; /* of the source that is being compiled */
};

static ingot_status_t refuse(struct compiler *compiler, const char *where, const char *what, const char *word)
{
    char text[256];
    const int length = snprintf(text, sizeof(text), "%s: %s %s\n", where, what, word);

    (void)ingot_sink_write(compiler->log, (size_t)length, text);
    return ingot_set_error_detail(INGOT_BUILD_FAILED, "%s", text);
}

static uint8_t *grow(struct reference_code *code, size_t size)
{
    uint8_t *bytes = realloc(code->bytes, code->size + size);

    if (bytes == NULL)
        return NULL;
    code->bytes = bytes;
    memset(bytes + code->size, 0, size);
    code->size += size;
    return bytes + code->size - size;
}

static ingot_status_t put_operation(struct compiler *compiler, char operation, int64_t value)
{
    uint8_t *place = grow(compiler->code, OPERATION_SIZE);
    uint32_t count = 0;

    if (place == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for code");
    place[0] = (uint8_t)operation;
    memcpy(place + 1, &value, sizeof(value));
    memcpy(&count, compiler->code->bytes + compiler->kernel + NAME_SIZE, sizeof(count));
    ++count;
    memcpy(compiler->code->bytes + compiler->kernel + NAME_SIZE, &count, sizeof(count));
    return INGOT_SUCCESS;
}

/* Finds the value of the last option -DNAME=VALUE. */
static int find_definition(const char *options, const char *name, int64_t *value)
{
    const size_t length = strlen(name);
    int found = 0;

    for (const char *place = options; (place = strstr(place, "-D")) != NULL;) {
        place += 2;
        if (strncmp(place, name, length) == 0 && place[length] == '=') {
            *value = strtoll(place + length + 1, NULL, 10);
            found = 1;
        }
    }
    return found;
}

static ingot_status_t define(struct compiler *compiler, const char *where, const char *name, const char *value)
{
    if (compiler->definition_count == MAX_DEFINITIONS || strlen(name) >= NAME_SIZE || value == NULL)
        return refuse(compiler, where, "cannot define", name);
    struct definition *definition = &compiler->definitions[compiler->definition_count++];
    memset(definition, 0, sizeof(*definition));
    memcpy(definition->name, name, strlen(name));
    definition->value = strtoll(value, NULL, 10);
    return INGOT_SUCCESS;
}

/* Finds the value that a #define or an option gives the name. */
static int find_value(const struct compiler *compiler, const char *name, int64_t *value)
{
    for (size_t i = compiler->definition_count; i > 0; --i) {
        if (strcmp(compiler->definitions[i - 1].name, name) == 0) {
            *value = compiler->definitions[i - 1].value;
            return 1;
        }
    }
    return find_definition(compiler->request->compile_options, name, value);
}

static int find_constant(const ingot_build_request_t *request, uint32_t id, int64_t *value)
{
    for (size_t i = 0; i < request->spec_constant_count; ++i) {
        if (request->spec_constants[i].id == id) {
            *value = 0;
            memcpy(value, request->spec_constants[i].value, request->spec_constants[i].size);
            return 1;
        }
    }
    return 0;
}

/* Compiles `$ID` or `$ID=DEFAULT`. */
static ingot_status_t compile_constant(struct compiler *compiler, const char *where, const char *word)
{
    char *end = NULL;
    int64_t value = 0;
    const uint32_t id = (uint32_t)strtoul(word + 1, &end, 10);

    if (!find_constant(compiler->request, id, &value)) {
        if (*end != '=')
            return refuse(compiler, where, "no value for", word);
        value = strtoll(end + 1, NULL, 10);
    }
    return put_operation(compiler, '#', value);
}

/* Copies the line `function NAME WORD...` from the source that has it. */
static int find_function(const ingot_build_request_t *request, const char *name, char line[LINE_SIZE])
{
    for (size_t i = 0; i < request->source_count; ++i) {
        for (const char *place = request->sources[i].bytes; *place != '\0';) {
            const size_t length = strcspn(place, "\n");
            const size_t name_length = strlen(name);
            if (length < LINE_SIZE && strncmp(place, "function ", 9) == 0 && length > 9 + name_length &&
                strncmp(place + 9, name, name_length) == 0 && place[9 + name_length] == ' ') {
                memcpy(line, place + 9 + name_length, length - 9 - name_length);
                line[length - 9 - name_length] = '\0';
                return 1;
            }
            place += length + (place[length] == '\n' ? 1 : 0);
        }
    }
    return 0;
}

static ingot_status_t compile_words(struct compiler *compiler, const char *where, char *words);

static ingot_status_t compile_word(struct compiler *compiler, const char *where, const char *word)
{
    const int is_number = isdigit((unsigned char)word[0]) || (word[0] == '-' && word[1] != '\0');
    char body[LINE_SIZE];
    int64_t value = 0;

    if (strcmp(word, "x") == 0)
        return put_operation(compiler, 'x', 0);
    if (strlen(word) == 1 && strchr("+-*", word[0]) != NULL)
        return put_operation(compiler, word[0], 0);
    if (is_number)
        return put_operation(compiler, '#', strtoll(word, NULL, 10));
    if (word[0] == '$')
        return compile_constant(compiler, where, word);
    if (strcmp(word, "__DATE__") == 0)
        return put_operation(compiler, '#', (int64_t)time(NULL) / SECONDS_OF_A_DAY);
    if (find_value(compiler, word, &value))
        return put_operation(compiler, '#', value);
    if (!find_function(compiler->request, word, body))
        return refuse(compiler, where, "unknown word", word);
    if (++compiler->depth > MAX_DEPTH)
        return refuse(compiler, where, "calls nest too deep at", word);
    const ingot_status_t status = compile_words(compiler, where, body);
    --compiler->depth;
    return status;
}

static ingot_status_t compile_words(struct compiler *compiler, const char *where, char *words)
{
    ingot_status_t status = INGOT_SUCCESS;
    char *rest = NULL;

    for (char *word = strtok_r(words, " \t", &rest); status == INGOT_SUCCESS && word != NULL;
         word = strtok_r(NULL, " \t", &rest))
        status = compile_word(compiler, where, word);
    return status;
}

/* Opens the file in the first directory of an option -I that has it. */
static FILE *open_include(const char *options, const char *name)
{
    FILE *file = NULL;

    for (const char *place = options; file == NULL && (place = strstr(place, "-I")) != NULL;) {
        char path[PATH_SIZE];
        place += 2;
        place += strspn(place, " ");
        const int length = snprintf(path, sizeof(path), "%.*s/%s", (int)strcspn(place, " "), place, name);
        if (length > 0 && (size_t)length < sizeof(path))
            file = fopen(path, "rb");
    }
    return file;
}

static ingot_status_t compile_text(struct compiler *compiler, const char *where, const char *text);

static ingot_status_t compile_file(struct compiler *compiler, const char *where, const char *name)
{
    FILE *file = open_include(compiler->request->compile_options, name);
    if (file == NULL)
        return refuse(compiler, where, "no header", name);
    ingot_status_t status = INGOT_OUT_OF_MEMORY;
    char *text = calloc(1, FILE_SIZE);
    if (text == NULL)
        (void)ingot_set_error_detail(status, "no memory for %s", name);
    else if (fread(text, 1, FILE_SIZE, file) == FILE_SIZE)
        status = refuse(compiler, where, "too long a header", name);
    else
        status = compile_text(compiler, name, text);
    free(text);
    (void)fclose(file);
    return status;
}

static ingot_status_t compile_include(struct compiler *compiler, const char *where, const char *name)
{
    const ingot_source_view_t *header = NULL;

    if (++compiler->depth > MAX_DEPTH)
        return refuse(compiler, where, "includes nest too deep at", name);
    for (size_t i = 0; header == NULL && i < compiler->request->header_count; ++i) {
        if (strcmp(compiler->request->headers[i].name, name) == 0)
            header = &compiler->request->headers[i];
    }
    const ingot_status_t status =
        header != NULL ? compile_text(compiler, header->name, header->bytes) : compile_file(compiler, where, name);
    --compiler->depth;
    return status;
}

static ingot_status_t begin_kernel(struct compiler *compiler, const char *where, const char *name)
{
    if (strlen(name) >= NAME_SIZE)
        return refuse(compiler, where, "too long a name", name);
    compiler->kernel = compiler->code->size;
    uint8_t *place = grow(compiler->code, KERNEL_SIZE);
    if (place == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for code");
    memcpy(place, name, strlen(name));
    return INGOT_SUCCESS;
}

static ingot_status_t compile_line(struct compiler *compiler, const char *where, const char *line, size_t length)
{
    char copy[LINE_SIZE];
    char *rest = NULL;

    if (length >= sizeof(copy))
        return refuse(compiler, where, "too long a line", "");
    memcpy(copy, line, length);
    copy[length] = '\0';
    char *word = strtok_r(copy, " \t\"", &rest);
    if (word == NULL || strncmp(word, "//", 2) == 0)
        return INGOT_SUCCESS;
    if (strcmp(word, "#") == 0 || strcmp(word, "#line") == 0)
        return INGOT_SUCCESS; /* they only say where a text came from */
    char *name = strtok_r(NULL, " \t\"", &rest);
    if (name == NULL)
        return refuse(compiler, where, "nothing behind", word);
    if (strcmp(word, "#include") == 0)
        return compile_include(compiler, where, name);
    if (strcmp(word, "#define") == 0)
        return define(compiler, where, name, strtok_r(NULL, " \t", &rest));
    if (strcmp(word, "function") == 0)
        return INGOT_SUCCESS; /* compiled into each kernel that calls it */
    if (strcmp(word, "kernel") != 0)
        return refuse(compiler, where, "unknown line", word);
    const ingot_status_t status = begin_kernel(compiler, where, name);
    return status == INGOT_SUCCESS ? compile_words(compiler, where, rest) : status;
}

static ingot_status_t compile_text(struct compiler *compiler, const char *where, const char *text)
{
    ingot_status_t status = INGOT_SUCCESS;

    while (status == INGOT_SUCCESS && *text != '\0') {
        const size_t length = strcspn(text, "\n");
        status = compile_line(compiler, where, text, length);
        text += length + (text[length] == '\n' ? 1 : 0);
    }
    return status;
}

static int text_has_constant(const ingot_source_view_t *text, uint32_t id)
{
    char word[16];
    const int length = snprintf(word, sizeof(word), "$%u", (unsigned)id);

    for (const char *place = text->bytes; (place = strstr(place, word)) != NULL; place += length) {
        if (!isdigit((unsigned char)place[length]))
            return 1;
    }
    return 0;
}

/* Refuses a constant that the program does not have. The message contains its number. */
static ingot_status_t check_constants(struct compiler *compiler)
{
    const ingot_build_request_t *request = compiler->request;

    for (size_t i = 0; i < request->spec_constant_count; ++i) {
        const uint32_t id = request->spec_constants[i].id;
        int found = 0;
        for (size_t j = 0; !found && j < request->source_count; ++j)
            found = text_has_constant(&request->sources[j], id);
        for (size_t j = 0; !found && j < request->header_count; ++j)
            found = text_has_constant(&request->headers[j], id);
        if (!found) {
            char number[16];
            (void)snprintf(number, sizeof(number), "%u", (unsigned)id);
            return refuse(compiler, "program", "no constant", number);
        }
    }
    return INGOT_SUCCESS;
}

ingot_status_t reference_compile(struct reference_code *code, const ingot_build_request_t *request, const char *target,
                                 ingot_sink_t *log)
{
    struct compiler compiler = {.request = request, .code = code, .log = log};
    char remark[128];

    uint8_t *header = grow(code, HEADER_SIZE);
    if (header == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for code");
    memcpy(header, "REFCODE1", MAGIC_SIZE);
    strncpy((char *)header + MAGIC_SIZE, target, TARGET_SIZE - 1);
    ingot_status_t status = check_constants(&compiler);
    for (size_t i = 0; status == INGOT_SUCCESS && i < request->source_count; ++i) {
        compiler.definition_count = 0;
        status = compile_text(&compiler, request->sources[i].name, request->sources[i].bytes);
    }
    if (status != INGOT_SUCCESS)
        return status;
    const int length = snprintf(remark, sizeof(remark), "compiled for %.40s\n", target);
    return ingot_sink_write(log, (size_t)length, remark);
}

/* Returns the offset behind the kernel at `offset`, or 0 if the bytes do not contain a whole kernel there. */
static size_t next_kernel(size_t size, const uint8_t *bytes, size_t offset)
{
    uint32_t count = 0;

    if (size - offset < KERNEL_SIZE || memchr(bytes + offset, '\0', NAME_SIZE) == NULL)
        return 0;
    memcpy(&count, bytes + offset + NAME_SIZE, sizeof(count));
    const size_t left = size - offset - KERNEL_SIZE;
    return count <= left / OPERATION_SIZE ? offset + KERNEL_SIZE + (size_t)count * OPERATION_SIZE : 0;
}

ingot_status_t reference_code_copy(struct reference_code *code, size_t size, const uint8_t *bytes, const char *target)
{
    char wanted[TARGET_SIZE] = "";

    strncpy(wanted, target, TARGET_SIZE - 1);
    if (size < HEADER_SIZE || memcmp(bytes, "REFCODE1", MAGIC_SIZE) != 0 ||
        memcmp(bytes + MAGIC_SIZE, wanted, TARGET_SIZE) != 0)
        return ingot_set_error_detail(INGOT_BLOB_REJECTED, "no code for %s", target);
    for (size_t offset = HEADER_SIZE; offset < size;) {
        offset = next_kernel(size, bytes, offset);
        if (offset == 0)
            return ingot_set_error_detail(INGOT_BLOB_REJECTED, "malformed code");
    }
    code->bytes = malloc(size);
    if (code->bytes == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for code");
    memcpy(code->bytes, bytes, size);
    code->size = size;
    return INGOT_SUCCESS;
}

ingot_status_t reference_code_names(const struct reference_code *code, ingot_sink_t *names)
{
    ingot_status_t status = INGOT_SUCCESS;

    for (size_t offset = HEADER_SIZE; status == INGOT_SUCCESS && offset < code->size;
         offset = next_kernel(code->size, code->bytes, offset)) {
        const char *name = (const char *)code->bytes + offset;
        status = ingot_sink_write(names, strlen(name) + 1, name);
    }
    return status;
}

ingot_status_t reference_code_find(const struct reference_code *code, const char *name, size_t *offset)
{
    for (size_t at = HEADER_SIZE; at < code->size; at = next_kernel(code->size, code->bytes, at)) {
        if (strcmp((const char *)code->bytes + at, name) == 0) {
            *offset = at;
            return INGOT_SUCCESS;
        }
    }
    return ingot_set_error_detail(INGOT_NOT_FOUND, "no kernel %s", name);
}

ingot_status_t reference_code_run(const struct reference_code *code, size_t offset, int64_t x, int64_t *result)
{
    uint64_t stack[STACK_SIZE] = {0}; /* unsigned: overflow wraps */
    size_t depth = 0;
    uint32_t count = 0;

    memcpy(&count, code->bytes + offset + NAME_SIZE, sizeof(count));
    const uint8_t *operation = code->bytes + offset + KERNEL_SIZE;
    for (uint32_t i = 0; i < count; ++i, operation += OPERATION_SIZE) {
        const int pushes = *operation == 'x' || *operation == '#';
        if (pushes ? depth == STACK_SIZE : depth < 2)
            return ingot_set_error_detail(INGOT_BACKEND_ERROR, "the stack has %zu values", depth);
        if (*operation == 'x')
            stack[depth++] = (uint64_t)x;
        else if (*operation == '#')
            memcpy(&stack[depth++], operation + 1, sizeof(stack[0]));
        else {
            const uint64_t right = stack[--depth];
            uint64_t *left = &stack[depth - 1];
            *left = *operation == '+' ? *left + right : *operation == '-' ? *left - right : *left * right;
        }
    }
    *result = depth != 0 ? (int64_t)stack[depth - 1] : 0;
    return INGOT_SUCCESS;
}
