/*
 * main.c - runs the executor with 1, 4 and 16 threads, prints memory use and cache hits, and exits with 1 if a
 * limit was exceeded.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ingot/persist.h>

#include "check.h"
#include "schedule.h"

enum { MAX_RUNS = 8 };

struct options {
    const char *device; /* "opencl" or "jit" */
    const char *store;  /* NULL: none */
    size_t shapes;
    size_t max_shapes;
    size_t thread_counts[MAX_RUNS];
    size_t run_count;
};

static void read_thread_counts(struct options *options, const char *text)
{
    for (options->run_count = 0; options->run_count < MAX_RUNS && *text != '\0'; ++options->run_count) {
        char *end = NULL;
        options->thread_counts[options->run_count] = strtoul(text, &end, 10);
        check(end != text && options->thread_counts[options->run_count] != 0, "--threads is to be like 1,4,16");
        text = *end == ',' ? end + 1 : end;
    }
}

static struct options read_options(int count, char **arguments)
{
    struct options options = {"opencl", NULL, 64, 16, {1, 4, 16}, 3};
    for (int i = 1; i + 1 < count; i += 2) {
        const char *name = arguments[i];
        const char *value = arguments[i + 1];
        if (strcmp(name, "--device") == 0)
            options.device = value;
        else if (strcmp(name, "--store") == 0)
            options.store = value;
        else if (strcmp(name, "--shapes") == 0)
            options.shapes = strtoul(value, NULL, 10);
        else if (strcmp(name, "--max-shapes") == 0)
            options.max_shapes = strtoul(value, NULL, 10);
        else if (strcmp(name, "--threads") == 0)
            read_thread_counts(&options, value);
        else
            check(false, "usage: framework [--device opencl|jit] [--shapes N] [--max-shapes N] [--threads 1,4,16] "
                         "[--store DIRECTORY]");
    }
    check(options.shapes != 0 && options.max_shapes != 0, "--shapes and --max-shapes are to be numbers above 0");
    return options;
}

static struct device *open_device(const char *name, struct object_counts *counts, size_t max_shapes)
{
    const ingot_allocator_t allocator = object_counting_allocator(counts);
    ingot_cache_capacity_t capacity = INGOT_CACHE_CAPACITY_INIT;
    struct device *device = NULL;

    capacity.max_groups = max_shapes;
#ifdef FRAMEWORK_OPENCL
    if (strcmp(name, "opencl") == 0)
        device = device_open_opencl(&allocator, &capacity);
#endif
#ifdef FRAMEWORK_JIT
    if (strcmp(name, "jit") == 0)
        device = device_open_jit(&allocator, &capacity);
#endif
    check(device != NULL, "this build has no such device");
    return device;
}

static ingot_storage_t open_storage(const char *path)
{
    ingot_persist_info_t info = INGOT_PERSIST_INFO_INIT;
    ingot_storage_t storage = NULL;

    if (path == NULL)
        return NULL;
    info.path = path;
    check_ingot(ingot_persist_open(&storage, &info), "a store");
    return storage;
}

/* ---- output ---- */

static void print_caches(const struct executor *executor, const struct schedule_result *result)
{
    ingot_cache_stats_t programs = INGOT_CACHE_STATS_INIT;
    ingot_object_cache_stats_t objects = INGOT_OBJECT_CACHE_STATS_INIT;

    check_ingot(ingot_context_get_cache_stats(executor->device->context, &programs), "statistics");
    check_ingot(ingot_object_cache_get_stats(executor->objects, &objects), "statistics");
    printf("  steps: %zu, %zu backward operations in another thread, %zu forward results computed again\n",
           result->steps, result->handed_over, atomic_load(&executor->recomputed));
    printf("  programs: %llu hits, %llu waits, %llu compiled, %zu from the store; at most %zu shapes\n",
           (unsigned long long)programs.hits, (unsigned long long)programs.waits, (unsigned long long)programs.builds,
           atomic_load(&executor->from_storage), result->most_program_groups);
    printf("  objects: %llu hits, %llu misses, %llu dropped with their shape; at most %zu shapes of sessions\n",
           (unsigned long long)objects.hits, (unsigned long long)objects.misses,
           (unsigned long long)objects.evictions_groups, result->most_object_groups);
    check(objects.objects == 0, "objects are left though their sessions ended");
}

/* ---- a run ---- */

static void run(const struct options *options, size_t thread_count)
{
    struct object_counts counts = {0};
    struct executor executor;
    struct scratch scratch;
    struct device *device = open_device(options->device, &counts, options->max_shapes);
    ingot_storage_t storage = open_storage(options->store);
    const struct shape largest = {16, shape_of_number(options->shapes - 1).columns};
    const size_t limit = executor_object_limit(options->max_shapes, SESSION_COUNT, thread_count,
                                               schedule_max_pending(thread_count), &largest);

    printf("%s, %zu threads, %zu shapes of which %zu are kept\n", options->device, thread_count, options->shapes,
           options->max_shapes);
    executor_open(&executor, device, storage, &counts, options->max_shapes, SESSION_COUNT);
    scratch_open(&scratch, &largest);
    executor_warm_up(&executor, &largest, &scratch);
    scratch_close(&scratch);
    const struct schedule_result result = schedule_run(&executor, thread_count, options->shapes, &largest);
    print_caches(&executor, &result);
    executor_close(&executor);
    ingot_storage_release(storage); /* stores queued programs */
    device->close(device);

    printf("  memory: own objects at most %.1f KiB of %.1f KiB; %zu were made, %zu ended; Ingot at most %.1f KiB\n",
           (double)atomic_load(&counts.peak_bytes) / 1024, (double)limit / 1024, atomic_load(&counts.made),
           atomic_load(&counts.ended), (double)atomic_load(&counts.ingot_peak_bytes) / 1024);
    check(result.most_program_groups <= options->max_shapes, "the programs of too many shapes were kept");
    check(result.most_program_groups == options->max_shapes || options->shapes < 2 * options->max_shapes,
          "programs are not kept by their shape");
    check(result.most_object_groups <= options->max_shapes * SESSION_COUNT, "objects of too many shapes were kept");
    check(atomic_load(&counts.peak_bytes) <= limit, "objects took more memory than they may");
    check(atomic_load(&counts.made) == atomic_load(&counts.ended), "objects were not ended once each");
    check(atomic_load(&counts.ingot_bytes) == 0, "Ingot kept memory");
    check(thread_count == 1 || result.handed_over == result.steps, "an operation's result stayed in its thread");
}

int main(int count, char **arguments)
{
    const struct options options = read_options(count, arguments);
    for (size_t i = 0; i < options.run_count; ++i)
        run(&options, options.thread_counts[i]);
    return 0;
}
