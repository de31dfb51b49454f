/*
 * process.h - a worker process: a forked child that compiles, because drivers serialize threads, crash and hang.
 *
 * A worker leads its own process group, so that processes that a driver has started are killed with the worker. A
 * worker ends when the tool ends. What a driver prints goes to a file in memory, whose last line explains a crash.
 */
#ifndef INGOT_CLI_BUILD_PROCESS_H
#define INGOT_CLI_BUILD_PROCESS_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct process {
    pid_t pid;  /* 0: none */
    int output; /* the file in memory, the worker's standard output and error */
};

/* Forks a worker, which calls `body`. On failure, sets errno and returns false. */
bool process_start(struct process *process, void (*body)(void *user), void *user);
/* Returns the size of the worker's private memory in RAM and swap, in bytes; 0 if it has ended. */
uint64_t process_memory(const struct process *process);
/* True if the worker has ended by itself. */
bool process_has_ended(const struct process *process);
/* Kills the worker if it is running, and waits until it has ended. Writes to `text` how it ended (the name of a signal
 * or an exit status) and the last line that it printed. Returns true if it ended by itself with the exit status 0. */
bool process_end(struct process *process, size_t text_size, char *text);

/* Sends a message and deletes it: one packet of a socket pair, which all workers share. Returns false if the other end
 * is closed. */
bool message_send(int socket, cJSON *message);
/* Returns a message that has arrived, which the caller deletes, or NULL if there is none. A driver may overwrite any
 * memory of its worker: whatever is not JSON is left out. */
cJSON *message_receive(int socket);

#endif
