/*
 * identity_library.c - a library with one function, for tests of which libraries are part of an identity.
 */
#include <stdlib.h>

int FUNCTION(void);

int FUNCTION(void)
{
    return 1;
}

/* Tells that a library was loaded, and not just read. */
__attribute__((constructor)) static void tell(void)
{
    (void)setenv("IDENTITY_LOADED", "1", 1);
}
