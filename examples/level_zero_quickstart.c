/*
 * level_zero_quickstart.c - shows Ingot in an application that already has a Level Zero context.
 *
 * Run it twice with the same directory: the second process loads the module from the directory and compiles nothing.
 */
#include <ingot/level_zero.h>

#include <stdio.h>
#include <stdlib.h>

/* Reads a SPIR-V module of at most 1 MiB. */
static size_t read_module(const char *path, uint8_t *bytes, size_t capacity)
{
    FILE *file = fopen(path, "rb");
    const size_t size = file != NULL ? fread(bytes, 1, capacity, file) : 0;
    if (file != NULL)
        fclose(file);
    return size;
}

int main(int count, char **arguments)
{
    static uint8_t spirv[1 << 20];
    const ze_context_desc_t context_desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    ze_driver_handle_t driver;
    ze_device_handle_t device;
    ze_context_handle_t context;
    uint32_t one = 1;
    if (count != 3 || zeInit(0) != ZE_RESULT_SUCCESS || zeDriverGet(&one, &driver) != ZE_RESULT_SUCCESS ||
        zeDeviceGet(driver, &one, &device) != ZE_RESULT_SUCCESS ||
        zeContextCreate(driver, &context_desc, &context) != ZE_RESULT_SUCCESS) {
        fputs("usage: level_zero_quickstart DIRECTORY MODULE.spv, on a machine with a Level Zero device\n", stderr);
        return 2;
    }
    ingot_cache_info_t info = {.struct_size = sizeof(info), .directory = arguments[1]};
    ingot_cache_t cache = NULL; /* NULL works, too: everything is compiled then */
    ingot_cache_open(&cache, &info);

    const ze_module_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                                   .format = ZE_MODULE_FORMAT_IL_SPIRV,
                                   .inputSize = read_module(arguments[2], spirv, sizeof(spirv)),
                                   .pInputModule = spirv};
    ze_module_handle_t module;
    ingot_origin_t origin;
    if (ingot_cache_level_zero_create(cache, context, device, &desc, &module, NULL, &origin) != INGOT_SUCCESS) {
        fprintf(stderr, "%s\n", ingot_last_error_detail());
        return 1;
    }
    const char *names[16]; /* An application would create kernels, set their arguments, and append them to a list. */
    uint32_t name_count = 16;
    zeModuleGetKernelNames(module, &name_count, names);
    printf("origin: %s\n", ingot_origin_name(origin));
    for (uint32_t i = 0; i < name_count; ++i)
        printf("kernel: %s\n", names[i]);
    zeModuleDestroy(module);
    ingot_cache_release(cache);
    zeContextDestroy(context);
    return 0;
}
