/*
 * interrupt.c - the tool's only signal handler; see interrupt.h.
 */
#include "cli/base/interrupt.h"

#include <signal.h>
#include <string.h>

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
