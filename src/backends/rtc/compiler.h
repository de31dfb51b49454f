/*
 * compiler.h - images of programs, options, and compiling, grouped by file.
 */
#ifndef INGOT_BACKENDS_RTC_COMPILER_H
#define INGOT_BACKENDS_RTC_COMPILER_H

#include "util/library.h"

#include <ingot/private/backend.h>

#include <elf.h>
#include <pthread.h>
#include <stdbool.h>

/* ---- image.c: writes and reads a program's binary: the lowered names of its name expressions, and machine code.
 *
 * A name expression is the C++ name of a kernel or variable, such as scale<float>. Its lowered name is its mangled name
 * in the code. Without expressions, the binary is only the code. With expressions, it consists of the format's magic,
 * the number of expressions, the total size of the strings, the strings, zeros up to a multiple of 8 bytes, and the
 * code. The strings are each expression followed by its lowered name, and each string ends in a NUL. Numbers are 64-bit
 * little-endian. Expressions are sorted bytewise. */

/* What distinguishes a vendor's code. */
struct rtc_format {
    const char *vendor;    /* in messages */
    const char *magic;     /* of images with name expressions: 8 characters */
    Elf64_Half machine;    /* in the ELF header */
    Elf64_Word name_table; /* the type of the section with the symbols of kernels */
    /* Returns the length of the kernel's name, which is a part of the symbol's; 0: the symbol is not a kernel. */
    size_t (*kernel_name)(const Elf64_Sym *symbol, const char *name);
    /* Finds the ELF file for an architecture if there are several, and checks those that fit. False: there is none.
     * NULL: code is always one ELF file. */
    bool (*unwrap)(const char *architecture, size_t *size, const uint8_t **bytes);
};

/* True if all tables and sections of the code are inside the bytes. The driver is not told the size, and would read
 * beyond the end. */
bool rtc_code_is_whole(const struct rtc_format *format, size_t size, const uint8_t *bytes);
/* True if the code must be linked before it can be loaded. */
bool rtc_code_is_relocatable(const struct rtc_format *format, size_t size, const uint8_t *bytes);

/* Calls `visit` with the name of each kernel, until `visit` fails. Returns INGOT_BACKEND_ERROR if the code is
 * malformed. */
ingot_status_t rtc_code_for_each_kernel(const struct rtc_format *format, size_t size, const uint8_t *bytes,
                                        ingot_status_t (*visit)(void *user, size_t length, const char *name),
                                        void *user);

/* A buffer. rtc_bytes_fini frees it. */
struct rtc_bytes {
    size_t size;
    uint8_t *bytes;
};
/* Allocates zeroed bytes. */
ingot_status_t rtc_bytes_init(struct rtc_bytes *bytes, const ingot_allocator_t *allocator, size_t size);
void rtc_bytes_fini(struct rtc_bytes *bytes, const ingot_allocator_t *allocator);

/* A parsed binary. The pointers point into its bytes. */
struct rtc_image {
    const struct rtc_format *format;
    size_t expression_count;
    const char *texts;
    size_t code_size; /* of what the driver gets */
    const uint8_t *code;
    size_t elf_size; /* of the ELF file for the device in it */
    const uint8_t *elf;
};

/* Parses a binary for a device of this architecture. Returns INGOT_BLOB_REJECTED if the bytes are not an image. */
ingot_status_t rtc_image_read(struct rtc_image *image, const struct rtc_format *format, const char *architecture,
                              size_t size, const uint8_t *bytes);
/* Returns the lowered name of an expression, or NULL. */
const char *rtc_image_lowered_name(const struct rtc_image *image, const char *expression);
/* True if the image has exactly these expressions. */
bool rtc_image_has_expressions(const struct rtc_image *image, size_t count, const char *const *expressions);
/* Writes the names of all kernels. For a kernel with an expression, writes the expression and the lowered name. */
ingot_status_t rtc_image_write_kernel_names(const struct rtc_image *image, ingot_sink_t *names);

/* Writes everything that precedes the code. The lowered names are in the order of the expressions. */
ingot_status_t rtc_image_write_head(struct rtc_bytes *head, const struct rtc_format *format,
                                    const ingot_allocator_t *allocator, size_t count, const char *const *expressions,
                                    const char *const *lowered_names);
/* Joins the head and the code. If there is no head, the image takes over the code's buffer. */
ingot_status_t rtc_image_join(struct rtc_bytes *image, const ingot_allocator_t *allocator, const struct rtc_bytes *head,
                              struct rtc_bytes *code);

/* ---- splits option strings into the words that the compilers take. ---- */

struct rtc_options {
    const char **words;
    size_t count;
    size_t capacity;
    char *chars;
    size_t chars_size;
};

/* Splits both strings into one list of words, with room for `room` more words. The caller must call rtc_options_fini,
 * even after a failure. */
ingot_status_t rtc_options_init(struct rtc_options *options, const ingot_allocator_t *allocator, const char *first,
                                const char *second, size_t room);
void rtc_options_fini(struct rtc_options *options, const ingot_allocator_t *allocator);

/* Adds a word, which must live as long as the options. The options must have room for it. */
void rtc_options_add(struct rtc_options *options, const char *word);
/* Removes the options that name an architecture, whose two spellings these are. Returns the value of the last one, or
 * NULL if there is none. */
const char *rtc_options_take_architecture(struct rtc_options *options, const char *name, const char *short_name);

/* ---- compiler.c: compiles one C++ source to machine code, with NVRTC or with hipRTC, whose functions are alike. ----
 */

/* The functions of a compiler. Results are enumerators whose values are the same in both. */
struct rtc_compiler {
    const char *prefix;     /* of the functions' names */
    pthread_mutex_t *alone; /* held while `compile` runs; NULL: threads may compile at the same time */
    const char *(*error_string)(int);
    int (*create)(void **, const char *, const char *, int, const char *const *, const char *const *);
    int (*destroy)(void **);
    int (*add_name_expression)(void *, const char *);
    int (*compile)(void *, int, const char *const *);
    int (*log_size)(void *, size_t *);
    int (*log)(void *, char *);
    int (*lowered_name)(void *, const char *, const char **);
    int (*code_size)(void *, size_t *);
    int (*code)(void *, char *);
};

/* The table for library_open. `result` is what the compiler calls machine code. */
#define RTC_SYMBOLS(prefix, result)                                                                                    \
    {                                                                                                                  \
        {prefix "GetErrorString", offsetof(struct rtc_compiler, error_string)},                                        \
            {prefix "CreateProgram", offsetof(struct rtc_compiler, create)},                                           \
            {prefix "DestroyProgram", offsetof(struct rtc_compiler, destroy)},                                         \
            {prefix "AddNameExpression", offsetof(struct rtc_compiler, add_name_expression)},                          \
            {prefix "CompileProgram", offsetof(struct rtc_compiler, compile)},                                         \
            {prefix "GetProgramLogSize", offsetof(struct rtc_compiler, log_size)},                                     \
            {prefix "GetProgramLog", offsetof(struct rtc_compiler, log)},                                              \
            {prefix "GetLoweredName", offsetof(struct rtc_compiler, lowered_name)},                                    \
            {prefix "Get" result "Size", offsetof(struct rtc_compiler, code_size)},                                    \
            {prefix "Get" result, offsetof(struct rtc_compiler, code)},                                                \
    }

/* The target of a compilation. */
struct rtc_target {
    ingot_allocator_t allocator;
    unsigned driver_major;    /* selects the compilers */
    const char *architecture; /* as in "sm_90", "gfx90a:sramecc+:xnack-" */
};

struct rtc_job {
    const ingot_allocator_t *allocator;
    const struct rtc_compiler *compiler;
    const struct rtc_format *format;
    const ingot_build_request_t *request; /* for its headers and name expressions */
    const ingot_source_view_t *source;
    size_t expression_count; /* 0 if the expressions belong to another source */
    const struct rtc_options *options;
    ingot_sink_t *log;
};

/* Compiles a source. Writes `head` only if there are name expressions. */
ingot_status_t rtc_compile(const struct rtc_job *job, struct rtc_bytes *head, struct rtc_bytes *code);

#endif
