/*
 * trace.c - sends events to the callback and the trace file; see trace.h. No other file of the core prints.
 *
 * A line of INGOT_TRACE is a JSON object (doc/tracing.md). It is written with a single write call, so threads and
 * processes may share a file.
 *
 * A trace must not harm the application: opening never waits, a full pipe loses lines, and no write ends the process.
 * If the application closes the trace's descriptor and gets the number for a file of its own, the trace ends.
 */
#include "core/base/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/base/json_text.h"
#include "core/base/metrics.h"
#include "util/environment.h"
#include "util/nanoseconds.h"
#include "util/write_signals.h"

/* Of these texts' bytes, each of which takes at most six in the line. A pipe takes 4,096 bytes at once. */
enum { MOST_GROUP = 100, MOST_NAME = 200, MOST_REASON = 350 };

void trace_init(struct trace *trace, ingot_event_callback_t callback, void *user, const char *destination)
{
    uint64_t is_on = 0;
    *trace = (struct trace){.callback = callback, .user = user, .file = -1};
    if (destination != NULL && environment_parse(ENVIRONMENT_SWITCH, destination, &is_on)) {
        trace->file = is_on != 0 ? STDERR_FILENO : -1;
    } else if (destination != NULL && *destination != '\0') {
        trace->file = open(destination, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0600);
        trace->owns_file = trace->file >= 0 && kept_file_begin(&trace->own, trace->file) == 0;
        if (trace->file < 0)
            fprintf(stderr, "ingot: INGOT_TRACE: %s cannot be opened: %s\n", destination, strerror(errno));
    }
    trace->wants_hits = callback != NULL || trace->file >= 0;
    trace->wanted = trace->wants_hits;
}

void trace_fini(struct trace *trace)
{
    if (trace->owns_file)
        kept_file_end(&trace->own);
    trace->file = -1;
    trace->owns_file = false;
    trace->wants_hits = trace->callback != NULL;
    trace->wanted = trace->wants_hits || trace->counted != NULL;
}

static void put_text(struct bytes_writer *line, const char *field, size_t most, const char *text)
{
    bytes_print(line, ",\"%s\":", field);
    json_put_string(line, strnlen(text, most), (const uint8_t *)text, true);
}

/* Calls the callback. The callback may call Ingot and overwrite the thread's error message, so the message is restored
 * afterwards. If an event's reason is that message, the reason points to the saved copy during the callback. */
static void call_back(const struct trace *trace, const ingot_event_t *event)
{
    struct error_detail kept;
    ingot_event_t told = *event;

    error_save(&kept);
    if (event->reason == ingot_last_error_detail())
        told.reason = kept.text;
    trace->callback(&told, trace->user);
    error_restore(&kept);
}

void trace_emit(const struct trace *trace, const ingot_event_t *event)
{
    if (trace->counted != NULL)
        metrics_count_event(trace->counted, event);
    if (trace->callback != NULL)
        call_back(trace, event);
    if (trace->file >= 0 && (!trace->owns_file || kept_file_is_open(&trace->own))) {
        struct bytes_writer line;
        json_begin(&line);
        bytes_put_text(&line, "{\"ingot\":");
        json_put_text(&line, event_kind_name(event->kind));
        put_text(&line, "status", SIZE_MAX, ingot_status_name(event->status));
        /* no %f, which prints the decimal separator of the application's locale */
        bytes_print(&line, ",\"us\":%" PRIu64 ".%03" PRIu64 ",\"bytes\":%zu", event->duration_ns / NS_PER_US,
                    event->duration_ns % NS_PER_US, event->bytes);
        put_text(&line, "group", MOST_GROUP, event->group);
        put_text(&line, "name", MOST_NAME, event->name);
        put_text(&line, "reason", MOST_REASON, event->reason);
        bytes_put_text(&line, "}\n");
        const struct write_signals held = write_signals_hold();
        if (!line.failed && write(trace->file, line.bytes, line.size) < 0) {
            /* a failure to write the trace is ignored */
        }
        write_signals_allow(&held);
        bytes_writer_fini(&line);
    }
}
