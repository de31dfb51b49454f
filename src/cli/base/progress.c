/*
 * progress.c - shows progress on one line, which it overwrites, and catches Ctrl-C; see base.h.
 */
#include "cli/base/base.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PERIOD_NS UINT64_C(100000000)

void progress_init(struct progress *progress, const char *what)
{
    *progress = (struct progress){what, 0, isatty(STDERR_FILENO) != 0};
}

void progress_say(struct progress *progress, const char *text)
{
    if (!progress->is_shown)
        return;
    const uint64_t now_ns = units_now_ns();
    if (now_ns - progress->shown_ns < PERIOD_NS)
        return;
    progress->shown_ns = now_ns;
    (void)fprintf(stderr, "\r%s: %s\033[K", progress->what, text);
    (void)fflush(stderr);
}

void progress_tell(struct progress *progress, uint64_t done, uint64_t total, uint64_t bytes)
{
    char text[128];
    char of[32] = "";
    char size[UNITS_TEXT_SIZE];
    if (total != 0)
        (void)snprintf(of, sizeof(of), " of %" PRIu64, total);
    (void)snprintf(text, sizeof(text), "%" PRIu64 "%s entries, %s", done, of, units_bytes(bytes, size));
    progress_say(progress, text);
}

void progress_fini(struct progress *progress)
{
    if (progress->shown_ns != 0)
        (void)fputs("\r\033[K", stderr);
}

static volatile sig_atomic_t is_interrupted;

static void note_interrupt(int signal_number)
{
    (void)signal_number;
    is_interrupted = 1;
}

void interrupt_catch(void)
{
    struct sigaction action;
    if (sigaction(SIGINT, NULL, &action) != 0 || action.sa_handler == SIG_IGN) /* the parent had SIGINT ignored */
        return;
    memset(&action, 0, sizeof(action));
    action.sa_handler = note_interrupt;
    action.sa_flags = (int)(SA_RESTART | SA_RESETHAND);
    (void)sigaction(SIGINT, &action, NULL);
}

bool interrupt_seen(void)
{
    return is_interrupted != 0;
}
