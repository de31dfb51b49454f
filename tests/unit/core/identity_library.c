/*
 * identity_library.c - a library with one function, for tests of which libraries are part of an identity.
 */
int FUNCTION(void);

int FUNCTION(void)
{
    return 1;
}
