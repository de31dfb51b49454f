/*
 * process.h - a worker process: a forked child that compiles, because drivers serialize threads, crash and hang.
 *
 * A worker leads its own process group, so that processes that a driver has started are killed with the worker. A
 * worker ends when the tool ends. What a driver prints goes to a file in memory, whose last line explains a crash.
 */
#ifndef INGOT_CLI_BUILD_PROCESS_H
#define INGOT_CLI_BUILD_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct process {
    pid_t pid;  /* 0: none */
    int socket; /* -1: none */
    int output; /* the file in memory; -1: none */
};
#define PROCESS_NONE                                                                                                   \
    {                                                                                                                  \
        0, -1, -1                                                                                                      \
    }

/* Runs in the child and never returns. */
typedef void (*process_body_t)(int socket, void *user);

/* Forks a worker. The child closes the sockets of `others`. On failure, sets errno and returns false. */
bool process_start(struct process *process, size_t other_count, const struct process *others, process_body_t body,
                   void *user);
/* Returns the size of the worker's private memory in RAM and swap, in bytes; 0 if it has ended. */
uint64_t process_memory(const struct process *process);
/* Discards what the worker has printed so far. */
void process_clear_output(const struct process *process);
/* Kills the worker if it is running, and waits until it has ended. Writes to `text` how it ended (the name of a signal
 * or an exit status) and the last line that it printed. */
void process_end(struct process *process, size_t text_size, char *text);

#endif
