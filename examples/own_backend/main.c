/*
 * main.c - compiles formulas at run time, first with an empty store and then, in a new process, with the filled
 * one.
 *
 * Each formula is a polynomial whose coefficients are in the source, as in a program that gets them at run time.
 * The application uses this backend like any other, and does not know what it compiles to.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <ingot/persist.h>

#include "tinycc.h"

enum { FORMULA_COUNT = 16, TERM_COUNT = 1000, ITEM_COUNT = 64, LINE_SIZE = 48 };

/* One process's results. */
struct result {
    double ready_ms; /* from the first call into Ingot to the last kernel */
    uint64_t builds;
    uint64_t loads;
    double sum;       /* over all values of all formulas */
    double max_error; /* compared with the same formula in plain C */
};

static void check(ingot_status_t status, const char *what)
{
    if (status == INGOT_SUCCESS)
        return;
    fprintf(stderr, "%s: %s: %s\n", what, ingot_status_name(status), ingot_last_error_detail());
    exit(1);
}

static double now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

static double coefficient(int formula, int term)
{
    return (double)((formula * 31 + term * 17) % 101 - 50) / 64;
}

static double item(int index)
{
    return (double)index / (double)ITEM_COUNT - 0.5;
}

/* Returns the source of a formula: Horner's scheme, with one line per coefficient. */
static char *write_source(int formula)
{
    const size_t capacity = (size_t)(TERM_COUNT + 8) * LINE_SIZE;
    char *text = malloc(capacity);
    size_t size = 0;

    if (text == NULL)
        exit(1);
    size += (size_t)snprintf(text, capacity,
                             "void kernel_evaluate(const double *in, double *out, unsigned long count)\n"
                             "{ for (unsigned long i = 0; i < count; ++i) {\n"
                             "double x = in[i], s = 0;\n");
    for (int term = 0; term < TERM_COUNT; ++term)
        size += (size_t)snprintf(text + size, capacity - size, "s = s * x + (%.6f);\n", coefficient(formula, term));
    (void)snprintf(text + size, capacity - size, "out[i] = s; } }\n");
    return text;
}

static void compute(const ingot_kernel_t *kernels, struct result *result)
{
    double in[ITEM_COUNT];
    double out[ITEM_COUNT];

    for (int i = 0; i < ITEM_COUNT; ++i)
        in[i] = item(i);
    for (int formula = 0; formula < FORMULA_COUNT; ++formula) {
        tinycc_function_t evaluate;
        check(tinycc_kernel_get_function(kernels[formula], &evaluate), "tinycc_kernel_get_function");
        evaluate(in, out, ITEM_COUNT);
        for (int i = 0; i < ITEM_COUNT; ++i) {
            double expected = 0;
            for (int term = 0; term < TERM_COUNT; ++term)
                expected = expected * in[i] + coefficient(formula, term);
            result->sum += out[i];
            result->max_error = fmax(result->max_error, fabs(out[i] - expected));
        }
    }
}

/* Does one process's work with the store in the directory. */
static void run(const char *directory, char *const *texts, struct result *result)
{
    const tinycc_device_t device = {.lanes = 1};
    ingot_persist_info_t store_info = INGOT_PERSIST_INFO_INIT;
    ingot_cache_stats_t stats = INGOT_CACHE_STATS_INIT;
    ingot_kernel_t kernels[FORMULA_COUNT];
    ingot_context_t context;
    ingot_storage_t store;

    store_info.path = directory;
    const double begin = now_ms();
    check(tinycc_context_create(&context, 1, &device, NULL), "tinycc_context_create");
    check(ingot_persist_open(&store, &store_info), "ingot_persist_open");
    for (int formula = 0; formula < FORMULA_COUNT; ++formula) {
        ingot_source_info_t source_info = INGOT_SOURCE_INFO_INIT;
        ingot_program_info_t program_info = INGOT_PROGRAM_INFO_INIT;
        ingot_source_t source;
        ingot_program_desc_t desc;
        ingot_program_t program;

        source_info.kind = TINYCC_SOURCE_C;
        source_info.bytes = texts[formula];
        source_info.size = strlen(texts[formula]);
        check(ingot_source_create(&source, &source_info), "ingot_source_create");
        program_info.sources = &source;
        program_info.source_count = 1;
        check(ingot_program_desc_create(&desc, context, &program_info), "ingot_program_desc_create");
        check(ingot_persist_program_create(&program, desc, store, NULL), "ingot_persist_program_create");
        check(ingot_kernel_create(&kernels[formula], program, 0, "evaluate"), "ingot_kernel_create");
        ingot_program_release(program);
        ingot_program_desc_release(desc);
        ingot_source_release(source);
    }
    result->ready_ms = now_ms() - begin;
    compute(kernels, result);
    check(ingot_context_get_cache_stats(context, &stats), "ingot_context_get_cache_stats");
    result->builds = stats.builds;
    result->loads = stats.loads;
    for (int formula = 0; formula < FORMULA_COUNT; ++formula)
        ingot_kernel_release(kernels[formula]);
    ingot_storage_release(store); /* stores the remaining programs */
    ingot_context_release(context);
}

/* Calls run() in a separate process. */
static void run_in_process(const char *directory, char *const *texts, struct result *result)
{
    int ends[2];
    int status = 0;

    if (pipe(ends) != 0)
        exit(1);
    const pid_t child = fork();
    if (child == 0) {
        run(directory, texts, result);
        _exit(write(ends[1], result, sizeof(*result)) == (ssize_t)sizeof(*result) ? 0 : 1);
    }
    close(ends[1]);
    const ssize_t size = read(ends[0], result, sizeof(*result));
    close(ends[0]);
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0 || size != (ssize_t)sizeof(*result))
        exit(1);
}

static void empty_store(const char *directory)
{
    ingot_persist_info_t info = INGOT_PERSIST_INFO_INIT;
    ingot_persist_limits_t nothing = INGOT_PERSIST_LIMITS_INIT;
    ingot_storage_t store;

    info.path = directory;
    nothing.max_entries = INGOT_NONE;
    check(ingot_persist_open(&store, &info), "ingot_persist_open");
    check(ingot_persist_evict(store, &nothing, NULL, NULL), "ingot_persist_evict");
    ingot_storage_release(store);
}

static void print(const char *name, const struct result *result)
{
    printf("%-5s %6d %8llu %8llu %10.2f ms   sum %.12f   largest error %g\n", name, FORMULA_COUNT,
           (unsigned long long)result->builds, (unsigned long long)result->loads, result->ready_ms, result->sum,
           result->max_error);
}

int main(int count, char **arguments)
{
    struct result cold = {0};
    struct result warm = {0};
    char *texts[FORMULA_COUNT];

    if (count != 2) {
        fputs("usage: own_backend DIRECTORY, of a store that is emptied first\n", stderr);
        return 2;
    }
    for (int formula = 0; formula < FORMULA_COUNT; ++formula)
        texts[formula] = write_source(formula);
    empty_store(arguments[1]);
    run_in_process(arguments[1], texts, &cold);
    run_in_process(arguments[1], texts, &warm);
    for (int formula = 0; formula < FORMULA_COUNT; ++formula)
        free(texts[formula]);
    printf("      programs compiled   loaded   all ready in\n");
    print("cold", &cold);
    print("warm", &warm);
    printf("warm is %.1f times faster\n", cold.ready_ms / warm.ready_ms);
    const int same = cold.sum == warm.sum && cold.max_error < 1e-9 && warm.max_error < 1e-9;
    return same && cold.builds == FORMULA_COUNT && warm.builds == 0 && warm.loads == FORMULA_COUNT ? 0 : 1;
}
