/*
 * coverage_of_layer.c - makes the OpenCL layer in the workers of `ingot build` write which lines it ran; see
 * coverage_of_workers.c. The layer has its own counts. It writes them each time it creates a program from an object of
 * a recipe, which only these workers request.
 */
#include <stddef.h>
#include <stdint.h>

void __gcov_dump(void);
void __gcov_reset(void);
void *__real_layer_create_of_recipe(void *context, const char *path, const uint8_t *key, size_t reason_size,
                                    char *reason);
void *__wrap_layer_create_of_recipe(void *context, const char *path, const uint8_t *key, size_t reason_size,
                                    char *reason);

void *__wrap_layer_create_of_recipe(void *context, const char *path, const uint8_t *key, size_t reason_size,
                                    char *reason)
{
    void *program = __real_layer_create_of_recipe(context, path, key, reason_size, reason);
    __gcov_dump();
    __gcov_reset();
    return program;
}
