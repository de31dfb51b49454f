/*
 * run_child.c - executes a command; see run_child.h.
 *
 * While a child runs, this process only waits. Signals that another process sends to this process alone are forwarded;
 * the terminal's signals reach the child directly. If a process sends a signal to the whole process group, the child
 * gets it twice: this process cannot tell it from a signal for this process alone, which must not be lost. Signals are
 * blocked from before the fork until the handlers know the child's PID. They are blocked again before the child is
 * reaped, because the PID may belong to another process after that.
 */
#include "cli/commands/run/run_child.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NOT_EXECUTABLE = 126, NO_COMMAND = 127, KILLED_BY = 128 };

static const int forwarded[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};

enum { FORWARDED_COUNT = sizeof(forwarded) / sizeof(forwarded[0]) };

static volatile sig_atomic_t child; /* written while the signals are blocked */

int run_replace_process(char **command)
{
    (void)execvp(command[0], command);
    const int error = errno;
    (void)fprintf(stderr, "ingot run: %s: %s\n", command[0], strerror(error));
    return error == ENOENT ? NO_COMMAND : NOT_EXECUTABLE;
}

static void forward_signal(int number, siginfo_t *info, void *context)
{
    const int error = errno;
    (void)context;
    if (info->si_code <= 0) /* sent by a process */
        (void)kill((pid_t)child, number);
    errno = error;
}

/* Catches the signals, except those that this process ignores: the child ignores these, too. */
static void catch_signals(void)
{
    for (size_t i = 0; i < FORWARDED_COUNT; ++i) {
        struct sigaction action;
        if (sigaction(forwarded[i], NULL, &action) != 0 || action.sa_handler == SIG_IGN)
            continue;
        memset(&action, 0, sizeof(action));
        action.sa_sigaction = forward_signal;
        action.sa_flags = (int)(SA_RESTART | SA_SIGINFO);
        (void)sigaction(forwarded[i], &action, NULL);
    }
}

static void wait_for_end(const sigset_t *signals, int *status)
{
    siginfo_t info;
    while (waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT) != 0 && errno == EINTR) {
    }
    (void)sigprocmask(SIG_BLOCK, signals, NULL);
    while (waitpid((pid_t)child, status, 0) < 0 && errno == EINTR) {
    }
}

bool run_child_wait(char **command, int *status)
{
    struct sigaction action;
    struct sigaction inherited;
    sigset_t signals;
    sigset_t before;

    memset(&action, 0, sizeof(action));
    action.sa_handler = SIG_DFL;
    (void)sigaction(SIGCHLD, &action, &inherited); /* if SIGCHLD were ignored, the child's status would be lost */
    (void)sigemptyset(&signals);
    for (size_t i = 0; i < FORWARDED_COUNT; ++i)
        (void)sigaddset(&signals, forwarded[i]);
    (void)sigprocmask(SIG_BLOCK, &signals, &before);
    const pid_t forked = fork();
    if (forked == 0) {
        (void)sigaction(SIGCHLD, &inherited, NULL);
        (void)sigprocmask(SIG_SETMASK, &before, NULL);
        _exit(run_replace_process(command));
    }
    if (forked < 0) {
        (void)fprintf(stderr, "ingot run: %s: no process: %s\n", command[0], strerror(errno));
        return false;
    }
    child = forked;
    catch_signals();
    (void)sigprocmask(SIG_SETMASK, &before, NULL);
    wait_for_end(&signals, status);
    return true;
}

int run_child_end(int status)
{
    sigset_t one;
    const struct rlimit no_core = {0, 0}; /* one core dump, the child's, is enough */

    if (!WIFSIGNALED(status))
        return WEXITSTATUS(status);
    const int number = WTERMSIG(status);
    (void)setrlimit(RLIMIT_CORE, &no_core);
    (void)signal(number, SIG_DFL);
    (void)raise(number); /* a forwarded signal is still blocked, and stays pending until it is unblocked below */
    (void)sigemptyset(&one);
    (void)sigaddset(&one, number);
    (void)sigprocmask(SIG_UNBLOCK, &one, NULL);
    return KILLED_BY + number;
}
