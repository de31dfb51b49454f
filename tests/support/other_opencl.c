/*
 * other_opencl.c - an OpenCL loader that always shows its own platform, whatever it is told to show.
 */
#include <stddef.h>
#include <string.h>

int clGetPlatformIDs(unsigned capacity, void **platforms, unsigned *count);
int clGetPlatformInfo(void *platform, unsigned key, size_t capacity, void *value, size_t *size);

int clGetPlatformIDs(unsigned capacity, void **platforms, unsigned *count)
{
    static int platform;
    if (capacity > 0 && platforms != NULL)
        platforms[0] = &platform;
    if (count != NULL)
        *count = 1;
    return 0;
}

int clGetPlatformInfo(void *platform, unsigned key, size_t capacity, void *value, size_t *size)
{
    static const char name[] = "Another Platform";
    (void)platform;
    (void)key;
    if (value != NULL && capacity >= sizeof(name))
        memcpy(value, name, sizeof(name));
    if (size != NULL)
        *size = sizeof(name);
    return 0;
}
