/*
 * trace.c - sends events to the callback and the trace file; see trace.h. No other file of the core prints.
 *
 * A line of INGOT_TRACE is `ingot,KIND,STATUS,MICROSECONDS,BYTES,GROUP,NAME,REASON`. It is written with a single write
 * call, so threads and processes may share a file. Commas and control characters in values become blanks.
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
#include "util/environment.h"
#include "util/nanoseconds.h"
#include "util/write_signals.h"

enum { LINE_CAPACITY = 1024 };

static void open_trace_file(struct trace *trace, const char *destination)
{
    uint64_t is_on = 0;

    if (destination == NULL || *destination == '\0')
        return;
    if (environment_parse(ENVIRONMENT_SWITCH, destination, &is_on)) {
        trace->file = is_on != 0 ? STDERR_FILENO : -1;
        return;
    }
    trace->file = open(destination, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0600);
    trace->owns_file = trace->file >= 0 && kept_file_begin(&trace->own, trace->file) == 0;
    if (trace->file < 0)
        fprintf(stderr, "ingot: INGOT_TRACE: %s cannot be opened: %s\n", destination, strerror(errno));
}

void trace_init(struct trace *trace, ingot_event_callback_t callback, void *user, const char *destination)
{
    *trace = (struct trace){.callback = callback, .user = user, .file = -1};
    open_trace_file(trace, destination);
    trace->wanted = callback != NULL || trace->file >= 0;
}

/* True if the descriptor is still that of the trace's file. */
static bool has_file(const struct trace *trace)
{
    return trace->file >= 0 && (!trace->owns_file || kept_file_is_open(&trace->own));
}

void trace_fini(struct trace *trace)
{
    if (trace->owns_file)
        kept_file_end(&trace->own);
    trace->file = -1;
    trace->owns_file = false;
    trace->wanted = trace->callback != NULL;
}

static void copy_plain_text(char *place, size_t capacity, const char *text)
{
    size_t length = 0;
    for (; text[length] != '\0' && length + 1 < capacity; ++length) {
        const unsigned char c = (unsigned char)text[length];
        place[length] = (char)(c < ' ' || c == ',' ? ' ' : c);
    }
    place[length] = '\0';
}

static void write_line(int file, const ingot_event_t *event)
{
    char group[128];
    char name[256];
    char reason[384];
    char line[LINE_CAPACITY];

    copy_plain_text(group, sizeof(group), event->group);
    copy_plain_text(name, sizeof(name), event->name);
    copy_plain_text(reason, sizeof(reason), event->reason);
    /* no %f, which prints the decimal separator of the application's locale */
    int length =
        snprintf(line, sizeof(line), "ingot,%s,%s,%" PRIu64 ".%03" PRIu64 ",%zu,%s,%s,%s\n",
                 event_kind_name(event->kind), ingot_status_name(event->status), event->duration_ns / NS_PER_US,
                 event->duration_ns % NS_PER_US, event->bytes, group, name, reason);
    const struct write_signals held = write_signals_hold();
    if (length > 0) /* a failure to write the trace is ignored */
        length = (int)write(file, line, (size_t)length);
    write_signals_allow(&held);
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
    if (trace->callback != NULL)
        call_back(trace, event);
    if (has_file(trace))
        write_line(trace->file, event);
}
