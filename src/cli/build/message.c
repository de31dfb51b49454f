/*
 * message.c - sends and receives messages between `ingot build` and its workers; see message.h.
 */
#include "cli/build/message.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/types.h>

bool message_send(int socket, const struct message *message)
{
    ssize_t size = 0;
    do {
        size = send(socket, message, sizeof(*message), MSG_NOSIGNAL);
    } while (size < 0 && errno == EINTR);
    return size == (ssize_t)sizeof(*message);
}

bool message_receive(int socket, struct message *message)
{
    ssize_t size = 0;
    do {
        size = recv(socket, message, sizeof(*message), 0);
    } while (size < 0 && errno == EINTR);
    if (size != (ssize_t)sizeof(*message) || message->kind >= MESSAGE_KIND_COUNT || message->outcome >= OUTCOME_COUNT)
        return false;
    message->text[MESSAGE_TEXT_SIZE - 1] = '\0';
    return true;
}
