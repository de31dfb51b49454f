/*
 * coverage_of_workers.c - makes the workers of `ingot build` write which lines they ran.
 *
 * gcov writes its counts when a process calls exit(). A worker that has nothing more to do is killed instead, because
 * drivers may crash when they are unloaded. In a coverage build, the tool is linked with this message_send(), which
 * writes the counts with each message.
 */
#include "cli/build/build.h"

void __gcov_dump(void);
void __gcov_reset(void);
bool __real_message_send(int socket, const cJSON *message);
bool __wrap_message_send(int socket, const cJSON *message);

bool __wrap_message_send(int socket, const cJSON *message)
{
    __gcov_dump();
    __gcov_reset();
    return __real_message_send(socket, message);
}
