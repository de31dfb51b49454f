/*
 * exit_code.h - the tool's exit statuses; ingot(1) documents them.
 */
#ifndef INGOT_CLI_EXIT_CODE_H
#define INGOT_CLI_EXIT_CODE_H

enum exit_code {
    EXIT_DONE = 0,
    EXIT_FINDING = 1,      /* The command worked, and the answer is negative: bad entries, no such entry, a miss, a
                            * wrong total. */
    EXIT_USAGE = 2,        /* Invalid options, arguments or environment. */
    EXIT_NO_STORE = 3,     /* There is no store, or it cannot be opened. */
    EXIT_FAILED = 4,       /* Something failed during the work. */
    EXIT_RUN_FAILED = 125, /* `ingot run` alone: it did not come to the command, whose status is returned otherwise. */
    EXIT_INTERRUPTED = 130 /* As a shell reports SIGINT. */
};

#endif
