/*
 * process_end.h - whether storages may still ask drivers for something on their own account.
 */
#ifndef INGOT_PERSIST_PROCESS_END_H
#define INGOT_PERSIST_PROCESS_END_H

#include <stdbool.h>

/*
 * To be called before work of this context's driver is put off, when the driver is loaded: so that the end of the
 * process is heard of before the driver shuts down. Any number of times.
 */
void process_end_watch(const void *context);

/* false: the process is ending, and no driver is to be called. Else process_end_leave must follow, in this thread. */
bool process_end_enter(void);
void process_end_leave(void);

#endif
