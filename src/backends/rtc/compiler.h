/*
 * compiler.h - compiles one C++ source to machine code, with NVRTC or with hipRTC, whose functions are alike.
 */
#ifndef INGOT_BACKENDS_RTC_COMPILER_H
#define INGOT_BACKENDS_RTC_COMPILER_H

#include <pthread.h>

#include "backends/rtc/image.h"
#include "backends/rtc/options.h"
#include "util/library.h"

/* The functions of a compiler. Results are enumerators whose values are the same in both. */
struct rtc_compiler {
    const char *prefix;     /* of the functions' names */
    pthread_mutex_t *alone; /* held while `compile` runs; NULL: threads may compile at the same time */
    char library[LIBRARY_NAME_SIZE];
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
