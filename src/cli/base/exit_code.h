/*
 * exit_code.h - the tool's exit statuses; ingot(1) documents them.
 */
#ifndef INGOT_CLI_BASE_EXIT_CODE_H
#define INGOT_CLI_BASE_EXIT_CODE_H

enum exit_code {
    EXIT_DONE = 0,
    /* The command worked, but the answer is negative: bad entries, no such entry, a miss, a wrong total. */
    EXIT_FINDING = 1,
    EXIT_USAGE = 2,    /* Invalid options, arguments or environment. */
    EXIT_NO_STORE = 3, /* There is no store, or it cannot be opened. */
    EXIT_FAILED = 4,   /* Something failed during the work. */
    /* Only from `ingot run`: the command was not started. Otherwise the command's status is returned. */
    EXIT_RUN_FAILED = 125,
    EXIT_INTERRUPTED = 130 /* The status that a shell reports for SIGINT. */
};

#endif
