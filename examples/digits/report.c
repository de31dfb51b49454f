/*
 * report.c - prints the report as a table, and writes the same content as JSON.
 */
#include "report.h"

#include <stdio.h>

static double accuracy(const struct report *report)
{
    return report->images == 0 ? 0.0 : (double)report->right / (double)report->images;
}

static const char *origin(const struct programs *programs, enum program which)
{
    return ingot_origin_name(programs->origins[which]);
}

void report_print(const struct report *report, const struct device *device, const struct programs *programs)
{
    printf("%s: %s\n\n", device->platform_name, device->name);
    printf("  %-26s %10s  %s\n", "stage", "ms", "origin");
    printf("  %-26s %10.2f\n", "platform", report->platform_ms);
    for (enum program i = NORMALIZE; i < PROGRAM_COUNT; ++i)
        printf("  program %-18s %10.2f  %s\n", programs_name(i), programs->ms[i], origin(programs, i));
    if (report->images > 0)
        printf("  %-26s %10.2f\n", "first result", report->first_result_ms);
    printf("  %-26s %10.2f\n", "all programs ready", report->ready_ms);
    if (report->images > 0)
        printf("  %-26s %10.2f\n", "all images", report->all_images_ms);
    if (programs->store != NULL)
        printf("  %-26s %10.2f\n", "storing (flush)", report->flush_ms);
    printf("\n  compilations %zu, loaded from storage %zu\n", report->compilations, report->loads);
    if (report->images > 0)
        printf("  accuracy %.2f%% (%zu of %zu), differing from the reference: %zu\n", 100.0 * accuracy(report),
               report->right, report->images, report->differences);
}

/* Writes a JSON string. Escapes it, because drivers may use any characters in their names. */
static void write_string(FILE *file, const char *text)
{
    fputc('"', file);
    for (; *text != '\0'; ++text) {
        const unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\')
            fprintf(file, "\\%c", c);
        else if (c < 0x20)
            fprintf(file, "\\u%04x", c);
        else
            fputc(c, file);
    }
    fputc('"', file);
}

static void write_programs(FILE *file, const struct programs *programs)
{
    fputs("  \"programs\": [\n", file);
    for (enum program i = NORMALIZE; i < PROGRAM_COUNT; ++i)
        fprintf(file, "    {\"name\": \"%s\", \"origin\": \"%s\", \"ms\": %.3f}%s\n", programs_name(i),
                origin(programs, i), programs->ms[i], i + 1 < PROGRAM_COUNT ? "," : "");
    fputs("  ],\n", file);
}

int report_write_json(const struct report *report, const struct device *device, const struct programs *programs,
                      const char *path)
{
    FILE *file = fopen(path, "w");
    if (file == NULL) {
        fprintf(stderr, "digits: cannot write %s\n", path);
        return -1;
    }
    fputs("{\n  \"platform\": ", file);
    write_string(file, device->platform_name);
    fputs(",\n  \"device\": ", file);
    write_string(file, device->name);
    fputs(",\n", file);
    write_programs(file, programs);
    fprintf(file, "  \"platform_ms\": %.3f,\n  \"programs_ms\": %.3f,\n  \"first_result_ms\": %.3f,\n",
            report->platform_ms, report->programs_ms, report->first_result_ms);
    fprintf(file, "  \"ready_ms\": %.3f,\n  \"all_images_ms\": %.3f,\n  \"flush_ms\": %.3f,\n", report->ready_ms,
            report->all_images_ms, report->flush_ms);
    fprintf(file, "  \"compilations\": %zu,\n  \"loads\": %zu,\n", report->compilations, report->loads);
    fprintf(file, "  \"images\": %zu,\n  \"accuracy\": %.4f,\n  \"differences\": %zu\n}\n", report->images,
            accuracy(report), report->differences);
    const int written = ferror(file) == 0;
    if (fclose(file) != 0 || !written) {
        fprintf(stderr, "digits: cannot write %s\n", path);
        return -1;
    }
    return 0;
}
