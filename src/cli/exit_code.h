/*
 * exit_code.h - what the tool's exit status says; ingot(1) documents it.
 */
#ifndef INGOT_CLI_EXIT_CODE_H
#define INGOT_CLI_EXIT_CODE_H

enum exit_code {
    EXIT_DONE = 0,
    EXIT_FINDING = 1,      /* Done, and the answer is no: bad entries, no such entry, a miss, a wrong total. */
    EXIT_USAGE = 2,        /* Options, arguments or environment make no sense. */
    EXIT_NO_STORE = 3,     /* No store, or it cannot be opened. */
    EXIT_FAILED = 4,       /* Something failed on the way. */
    EXIT_INTERRUPTED = 130 /* As a shell reports SIGINT. */
};

#endif
