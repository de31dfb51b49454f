/*
 * pocl_stand_in.c - stands for the library of a PoCL that tells where its data files are: in the directory that the
 * environment variable POCL_STAND_IN_DATA names.
 */
#include <stdlib.h>
#include <string.h>

int pocl_get_private_datadir(char *directory);

int pocl_get_private_datadir(char *directory)
{
    const char *chosen = getenv("POCL_STAND_IN_DATA");
    strcpy(directory, chosen != NULL ? chosen : "");
    return 0;
}
