/*
 * identity_library.c - a library with one function, which tests of compiler identities load or read.
 */
#include <stdlib.h>

int FUNCTION(void);

int FUNCTION(void)
{
    return 1;
}

/* Sets an environment variable that shows that the library was loaded, not just read. */
__attribute__((constructor)) static void tell(void)
{
    (void)setenv("IDENTITY_LOADED", "1", 1);
}
