/*
 * identity.h - finds what the files of a tool depend on besides their paths: versions, device, driver, processor.
 */
#ifndef INGOT_CLI_ADOPT_IDENTITY_H
#define INGOT_CLI_ADOPT_IDENTITY_H

#include "cli/adopt/kinds.h"

struct adopt_identity {
    char *text;           /* owns the other members, which are never NULL once they are found */
    const char *versions; /* of the packages, the compilers, Python and the C library */
    const char *device;
    const char *driver;
    const char *processor; /* "" if files do not depend on it */
};

/* `command` is the command that will run; its Python is asked for the versions. Returns false, with a message, if the
 * tool is not installed there. */
bool adopt_identity_find(struct adopt_identity *identity, const struct adopt_kind *kind, char **command);

#endif
