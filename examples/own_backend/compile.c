/*
 * compile.c - compiles C sources with libtcc; see compile.h.
 *
 * libtcc writes to a file, so it gets a file in memory. It finds the same includes that Ingot finds for the id: the
 * embedded headers and the -I directories, but no system headers (-nostdinc). Lock: libtcc has global state, and
 * its versions guard different parts of it, so only one thread compiles at a time.
 */
#include "compile.h"

#include <libtcc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "headers.h"
#include "options.h"

static pthread_mutex_t compiler_lock = PTHREAD_MUTEX_INITIALIZER;

/* Writes the compiler's messages to the log. The first error also becomes the error detail. */
struct messages {
    ingot_sink_t *log;
    ingot_status_t status; /* the status of writing the log */
    char first_error[512];
};

static void on_message(void *user, const char *text)
{
    struct messages *messages = user;

    if (messages->first_error[0] == '\0' && strstr(text, "error") != NULL)
        snprintf(messages->first_error, sizeof(messages->first_error), "%s", text);
    if (messages->status == INGOT_SUCCESS)
        messages->status = ingot_sink_write(messages->log, strlen(text), text);
    if (messages->status == INGOT_SUCCESS)
        messages->status = ingot_sink_write(messages->log, 1, "\n");
}

static int compile_sources(TCCState *compiler, const ingot_build_request_t *request)
{
    for (size_t i = 0; i < request->source_count; ++i) {
        if (tcc_compile_string(compiler, request->sources[i].bytes) != 0)
            return -1;
    }
    return 0;
}

static ingot_status_t read_image(int file, uint8_t **image, size_t *size)
{
    struct stat status;

    if (fstat(file, &status) != 0 || status.st_size <= 0)
        return ingot_set_error_detail(INGOT_BACKEND_ERROR, "the compiler wrote nothing");
    *size = (size_t)status.st_size;
    *image = malloc(*size);
    if (*image == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for %zu bytes of code", *size);
    if (pread(file, *image, *size, 0) == status.st_size)
        return INGOT_SUCCESS;
    free(*image);
    *image = NULL; /* because the caller frees *image even after a failure */
    return ingot_set_error_detail(INGOT_BACKEND_ERROR, "the compiler's output could not be read");
}

/* Requires the lock. */
static ingot_status_t run_compiler(const ingot_build_request_t *request, uint32_t lanes, const char *header_directory,
                                   struct messages *messages, int file)
{
    char value[16];
    char path[64];
    TCCState *compiler = tcc_new();

    if (compiler == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "tcc_new failed");
    snprintf(value, sizeof(value), "%u", (unsigned)lanes);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
    tcc_set_error_func(compiler, messages, on_message);
    tcc_set_options(compiler, "-nostdlib -nostdinc -Wall");
    tcc_set_output_type(compiler, TCC_OUTPUT_DLL);
    tcc_define_symbol(compiler, "LANES", value);
    if (header_directory[0] != '\0')
        tcc_add_include_path(compiler, header_directory);
    ingot_status_t status = options_apply(compiler, request->compile_options);
    if (status == INGOT_SUCCESS)
        status = options_apply(compiler, request->link_options);
    if (status == INGOT_SUCCESS && compile_sources(compiler, request) != 0)
        status = ingot_set_error_detail(INGOT_BUILD_FAILED, "%s", messages->first_error);
    if (status == INGOT_SUCCESS && tcc_output_file(compiler, path) != 0)
        status = ingot_set_error_detail(INGOT_BUILD_FAILED, "%s", messages->first_error);
    tcc_delete(compiler);
    return status == INGOT_SUCCESS ? messages->status : status;
}

ingot_status_t compile(const ingot_build_request_t *request, uint32_t lanes, ingot_sink_t *log, uint8_t **image,
                       size_t *size)
{
    struct messages messages = {.log = log, .status = INGOT_SUCCESS};
    char header_directory[HEADER_DIRECTORY_SIZE] = "";
    ingot_status_t status = INGOT_SUCCESS;

    if (request->spec_constant_count > 0)
        return ingot_set_error_detail(INGOT_BUILD_FAILED, "C has no specialization constants; use -D");
    const int file = memfd_create("tinycc", MFD_CLOEXEC);
    if (file < 0)
        return ingot_set_error_detail(INGOT_BACKEND_ERROR, "memfd_create failed");
    status = headers_write(request, header_directory);
    if (status == INGOT_SUCCESS) {
        pthread_mutex_lock(&compiler_lock);
        status = run_compiler(request, lanes, header_directory, &messages, file);
        pthread_mutex_unlock(&compiler_lock);
    }
    if (status == INGOT_SUCCESS)
        status = read_image(file, image, size);
    headers_remove(header_directory);
    close(file);
    return status;
}
