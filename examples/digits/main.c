/*
 * main.c - classifies handwritten digits on an OpenCL device and reports the time of each stage.
 *
 * Run it twice with the same --store: the first process compiles and stores, the second compiles nothing.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "data.h"
#include "device.h"
#include "network.h"
#include "programs.h"
#include "reference.h"
#include "report.h"

struct options {
    const char *platform, *json, *data, *kernels;
    struct programs_storage storage;
    int run;
};

struct demo {
    struct weights weights;
    struct images images;
    struct device device;
    struct programs programs;
    struct network network;
    struct report report;
};

static const char usage[] = "usage: digits [options]\n"
                            "  --store DIR          keep compiled programs in DIR (default: keep none)\n"
                            "  --record DIR         with a store: record in DIR what programs are compiled from\n"
                            "  --keep-requests      the store keeps what its programs are compiled from\n"
                            "  --store-mode MODE    when to store: auto, now or flush (default: auto)\n"
                            "  --platform WORD      a platform with WORD in its name (default: the first)\n"
                            "  --no-run             only build or load: for simulated devices, which compute nothing\n"
                            "  --json FILE          write the report as JSON too\n"
                            "  --data DIR           where weights.bin and images.bin are\n"
                            "  --kernels DIR        where the OpenCL sources are; no spaces\n";

static int parse_store_mode(const char *text, ingot_persist_store_mode_t *mode)
{
    static const struct {
        const char *name;
        ingot_persist_store_mode_t mode;
    } modes[] = {
        {"auto", INGOT_PERSIST_STORE_AUTO}, {"now", INGOT_PERSIST_STORE_NOW}, {"flush", INGOT_PERSIST_STORE_ON_FLUSH}};
    for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); ++i)
        if (strcmp(text, modes[i].name) == 0) {
            *mode = modes[i].mode;
            return 0;
        }
    return -1;
}

/* Returns 0, or -1 for invalid arguments. */
static int parse_options(struct options *options, int count, char **arguments)
{
    const struct {
        const char *name;
        const char **value;
    } texts[] = {{"--store", &options->storage.path}, {"--record", &options->storage.record},
                 {"--platform", &options->platform},  {"--json", &options->json},
                 {"--data", &options->data},          {"--kernels", &options->kernels}};
    for (int i = 1; i < count; ++i) {
        if (strcmp(arguments[i], "--no-run") == 0) {
            options->run = 0;
            continue;
        }
        if (strcmp(arguments[i], "--keep-requests") == 0) {
            options->storage.keeps_requests = 1;
            continue;
        }
        if (i + 1 == count)
            return -1;
        const char *name = arguments[i], *value = arguments[++i];
        size_t t = 0;
        while (t < sizeof(texts) / sizeof(texts[0]) && strcmp(name, texts[t].name) != 0)
            ++t;
        if (t < sizeof(texts) / sizeof(texts[0]))
            *texts[t].value = value;
        else if (strcmp(name, "--store-mode") != 0 || parse_store_mode(value, &options->storage.store_mode) != 0)
            return -1;
    }
    return 0;
}

static int make_programs(struct demo *demo, const struct options *options)
{
    double start = clock_ms();
    if (device_open(&demo->device, options->platform) != 0 ||
        programs_open(&demo->programs, &demo->device, &options->storage) != 0)
        return -1;
    demo->report.platform_ms = clock_ms() - start;

    start = clock_ms();
    if (programs_make_all(&demo->programs, options->kernels) != 0)
        return -1;
    demo->report.programs_ms = demo->report.ready_ms = clock_ms() - start;
    return 0;
}

/* Classifies one image before all others, so that a driver that generates code at the first launch does so then. */
static int classify(struct demo *demo, uint8_t *labels, float *logits)
{
    const struct images *images = &demo->images;
    struct report *report = &demo->report;
    double start = clock_ms();
    if (network_open(&demo->network, &demo->device, &demo->programs, &demo->weights, images->count) != 0 ||
        network_classify(&demo->network, images->pixels, 1, labels, logits) != 0)
        return -1;
    report->first_result_ms = clock_ms() - start;
    report->ready_ms = report->programs_ms + report->first_result_ms;

    start = clock_ms();
    if (network_classify(&demo->network, images->pixels, images->count, labels, logits) != 0)
        return -1;
    report->all_images_ms = clock_ms() - start;

    report->images = images->count;
    report->differences = reference_count_differences(&demo->weights, images, labels, logits);
    for (size_t i = 0; i < images->count; ++i)
        report->right += labels[i] == images->labels[i];
    return 0;
}

static int classify_all(struct demo *demo)
{
    uint8_t *labels = calloc(demo->images.count, 1);
    float *logits = calloc(demo->images.count * CLASSES, sizeof(*logits));
    int result = -1;
    if (labels == NULL || logits == NULL)
        fprintf(stderr, "digits: out of memory\n");
    else
        result = classify(demo, labels, logits);
    free(labels);
    free(logits);
    return result;
}

static int store_and_count(struct demo *demo)
{
    const double start = clock_ms();
    programs_flush(&demo->programs);
    demo->report.flush_ms = clock_ms() - start;

    ingot_cache_stats_t stats = INGOT_CACHE_STATS_INIT;
    if (programs_check(ingot_context_get_cache_stats(demo->programs.context, &stats), "counters") != 0)
        return -1;
    demo->report.compilations = (size_t)stats.builds;
    demo->report.loads = (size_t)stats.loads;
    return 0;
}

static int run(struct demo *demo, const struct options *options)
{
    if (data_read_weights(&demo->weights, options->data) != 0 || data_read_images(&demo->images, options->data) != 0 ||
        make_programs(demo, options) != 0)
        return -1;
    if (options->run && classify_all(demo) != 0)
        return -1;
    if (store_and_count(demo) != 0)
        return -1;
    report_print(&demo->report, &demo->device, &demo->programs);
    if (options->json != NULL && report_write_json(&demo->report, &demo->device, &demo->programs, options->json) != 0)
        return -1;
    return demo->report.differences == 0 ? 0 : -1;
}

int main(int count, char **arguments)
{
    struct options options = {.platform = "", .data = DIGITS_DATA, .kernels = DIGITS_KERNELS, .run = 1};
    if (parse_options(&options, count, arguments) != 0) {
        fputs(usage, stderr);
        return 2;
    }
    struct demo demo;
    memset(&demo, 0, sizeof(demo));
    const int result = run(&demo, &options);
    network_close(&demo.network);
    programs_close(&demo.programs);
    device_close(&demo.device);
    data_free_weights(&demo.weights);
    data_free_images(&demo.images);
    return result == 0 ? 0 : 1;
}
