/*
 * prometheus.h - adds up and prints counters and gauges as Prometheus reads them.
 */
#ifndef INGOT_CLI_COMMANDS_PROMETHEUS_H
#define INGOT_CLI_COMMANDS_PROMETHEUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* A line begins with a name and its labels, or is a comment about a name. */
struct prometheus_line {
    char *text;
    double value;
};

/* What is printed, which is not freed. */
struct prometheus {
    struct prometheus_line *lines;
    size_t count;
};

/* Adds a value to the line of this text. A comment has no value. */
void prometheus_add(struct prometheus *all, const char *text, double value);
/* Adds up what the processes of a directory have counted. prune: moves the counts of processes that have ended into one
 * file, and removes their files. Returns an exit_code, and reports failures. */
int prometheus_read(struct prometheus *all, const char *directory, bool prune);
void prometheus_print(FILE *stream, struct prometheus *all);

#endif
