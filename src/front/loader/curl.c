/*
 * curl.c - binds the remote tiers to libcurl at run time.
 *
 * libingot-remote is linked with libcurl, which depends on about thirty other libraries. libingot-cache is not, so that
 * a process without a server loads none of them, and needs none. The OpenCL layer's module is not, so that a Python
 * wheel can contain it. Here are functions with the names and types of those of libcurl, which are local to these
 * libraries and forward to libcurl. If the application has loaded it already, dlopen returns the same one.
 * curl_global_init opens it. The remote tiers call it before any other function, and call no other if it fails.
 */
#include <curl/curl.h>
#include <stdarg.h>
#include <stdio.h>

#include "util/library.h"

#define LIBRARY "libcurl.so.4"

/* Calls WITH(type of the result, name, parameters, arguments) for each function that only forwards. */
#define EACH_FUNCTION(WITH)                                                                                            \
    WITH(CURL *, curl_easy_init, (void), ())                                                                           \
    WITH(CURLcode, curl_easy_recv, (CURL * easy, void *bytes, size_t capacity, size_t *size),                          \
         (easy, bytes, capacity, size))                                                                                \
    WITH(CURLcode, curl_easy_send, (CURL * easy, const void *bytes, size_t size, size_t *sent),                        \
         (easy, bytes, size, sent))                                                                                    \
    WITH(CURLM *, curl_multi_init, (void), ())                                                                         \
    WITH(CURLMcode, curl_multi_add_handle, (CURLM * multi, CURL * easy), (multi, easy))                                \
    WITH(CURLMcode, curl_multi_cleanup, (CURLM * multi), (multi))                                                      \
    WITH(CURLMsg *, curl_multi_info_read, (CURLM * multi, int *left), (multi, left))                                   \
    WITH(CURLMcode, curl_multi_perform, (CURLM * multi, int *running), (multi, running))                               \
    WITH(CURLMcode, curl_multi_poll,                                                                                   \
         (CURLM * multi, struct curl_waitfd files[], unsigned count, int timeout_ms, int *ready),                      \
         (multi, files, count, timeout_ms, ready))                                                                     \
    WITH(CURLMcode, curl_multi_remove_handle, (CURLM * multi, CURL * easy), (multi, easy))                             \
    WITH(struct curl_slist *, curl_slist_append, (struct curl_slist * list, const char *text), (list, text))

/* Like EACH_FUNCTION, for functions without a result. */
#define EACH_PROCEDURE(WITH)                                                                                           \
    WITH(void, curl_easy_cleanup, (CURL * easy), (easy))                                                               \
    WITH(void, curl_easy_reset, (CURL * easy), (easy))                                                                 \
    WITH(void, curl_slist_free_all, (struct curl_slist * list), (list))

/* Like EACH_FUNCTION, for functions that do more than forward. */
#define EACH_OTHER(WITH)                                                                                               \
    WITH(CURLcode, curl_global_init, (long flags), (flags))                                                            \
    WITH(const char *, curl_easy_strerror, (CURLcode code), (code))                                                    \
    WITH(CURLcode, curl_easy_setopt, (CURL * easy, CURLoption option, ...), ())                                        \
    WITH(CURLcode, curl_easy_getinfo, (CURL * easy, CURLINFO info, ...), ())                                           \
    WITH(CURLMcode, curl_multi_setopt, (CURLM * multi, CURLMoption option, ...), ())

/* Fields end with an underscore, because <curl/curl.h> defines macros with the names of some functions. */
#define FIELD(type, name, parameters, arguments) type(*name##_) parameters;
#define SYMBOL(type, name, parameters, arguments) {#name, offsetof(struct functions, name##_)},
#define FORWARD(type, name, parameters, arguments)                                                                     \
    type(name) parameters                                                                                              \
    {                                                                                                                  \
        return functions.name##_ arguments;                                                                            \
    }
#define FORWARD_PROCEDURE(type, name, parameters, arguments)                                                           \
    type(name) parameters                                                                                              \
    {                                                                                                                  \
        functions.name##_ arguments;                                                                                   \
    }

struct functions {
    EACH_FUNCTION(FIELD)
    EACH_PROCEDURE(FIELD)
    EACH_OTHER(FIELD)
};

static const struct library_symbol symbols[] = {EACH_FUNCTION(SYMBOL) EACH_PROCEDURE(SYMBOL) EACH_OTHER(SYMBOL)};
static struct functions functions;
static char failure[256]; /* "" if the library is open */

EACH_FUNCTION(FORWARD)
EACH_PROCEDURE(FORWARD_PROCEDURE)

CURLcode curl_global_init(long flags)
{
    const char *missing = library_open(LIBRARY, sizeof(symbols) / sizeof(symbols[0]), symbols, &functions);
    if (missing == NULL)
        return functions.curl_global_init_(flags);
    (void)snprintf(failure, sizeof(failure), "servers need libcurl 7.85 or later (" LIBRARY "): %s", missing);
    return CURLE_NOT_BUILT_IN;
}

const char *curl_easy_strerror(CURLcode code)
{
    return failure[0] != '\0' ? failure : functions.curl_easy_strerror_(code);
}

/* An option's number says what type its argument has. */
CURLcode(curl_easy_setopt)(CURL *easy, CURLoption option, ...)
{
    CURLcode code;
    va_list arguments;
    va_start(arguments, option);
    if (option < CURLOPTTYPE_OBJECTPOINT)
        code = functions.curl_easy_setopt_(easy, option, va_arg(arguments, long));
    else if (option >= CURLOPTTYPE_FUNCTIONPOINT && option < CURLOPTTYPE_OFF_T)
        code = functions.curl_easy_setopt_(easy, option, va_arg(arguments, void (*)(void)));
    else if (option >= CURLOPTTYPE_OFF_T && option < CURLOPTTYPE_BLOB)
        code = functions.curl_easy_setopt_(easy, option, va_arg(arguments, curl_off_t));
    else
        code = functions.curl_easy_setopt_(easy, option, va_arg(arguments, void *));
    va_end(arguments);
    return code;
}

CURLcode(curl_easy_getinfo)(CURL *easy, CURLINFO info, ...)
{
    va_list arguments;
    va_start(arguments, info);
    const CURLcode code = functions.curl_easy_getinfo_(easy, info, va_arg(arguments, void *));
    va_end(arguments);
    return code;
}

/* The remote tiers set only options that are numbers. */
CURLMcode(curl_multi_setopt)(CURLM *multi, CURLMoption option, ...)
{
    va_list arguments;
    va_start(arguments, option);
    const CURLMcode code = functions.curl_multi_setopt_(multi, option, va_arg(arguments, long));
    va_end(arguments);
    return code;
}
