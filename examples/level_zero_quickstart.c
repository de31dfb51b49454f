/*
 * level_zero_quickstart.c - shows Ingot in an application that already has a Level Zero context.
 *
 * Builds a SPIR-V module for all devices of the first driver, and prints its kernels. Run it twice with the same
 * directory: the second process loads the program from the directory and compiles nothing.
 */
#include <ingot/level_zero.h>
#include <ingot/persist.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(call) check((call), #call)

static void check(ingot_status_t status, const char *call)
{
    if (status == INGOT_SUCCESS)
        return;
    fprintf(stderr, "%s: %s: %s\n", call, ingot_status_name(status), ingot_last_error_detail());
    exit(1);
}

/* Opens the application's own driver and context. */
static int open_driver(ze_driver_handle_t *driver, ze_context_handle_t *ze_context)
{
    const ze_context_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    uint32_t count = 1;
    if (zeInit(0) != ZE_RESULT_SUCCESS || zeDriverGet(&count, driver) != ZE_RESULT_SUCCESS || count == 0)
        return -1;
    return zeContextCreate(*driver, &desc, ze_context) == ZE_RESULT_SUCCESS ? 0 : -1;
}

static void *read_module(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    unsigned char *bytes = NULL;
    long length = 0;
    if (file == NULL)
        return NULL;
    if (fseek(file, 0, SEEK_END) == 0 && (length = ftell(file)) > 0 && fseek(file, 0, SEEK_SET) == 0)
        bytes = malloc((size_t)length);
    if (bytes != NULL && fread(bytes, 1, (size_t)length, file) != (size_t)length) {
        free(bytes);
        bytes = NULL;
    }
    fclose(file);
    *size = (size_t)length;
    return bytes;
}

/* Gets a native kernel for each name. An application would set its arguments and append it to a command list. */
static void list_kernels(ingot_program_t program, ingot_program_desc_t desc, ingot_storage_t store)
{
    size_t size = 0;
    CHECK(ingot_program_get_kernel_names(program, &size, NULL));
    char *names = malloc(size + 1);
    if (names == NULL)
        exit(1);
    CHECK(ingot_program_get_kernel_names(program, &size, names));
    for (const char *name = names; name < names + size; name += strlen(name) + 1) {
        ingot_kernel_t kernel;
        ze_kernel_handle_t native;
        ze_kernel_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_KERNEL_PROPERTIES};
        CHECK(ingot_persist_kernel_create(&kernel, desc, store, 0, name,
                                          NULL)); /* Compiles the program again if the driver rejects its kernel. */
        CHECK(ingot_level_zero_kernel_get_native(kernel, &native));
        if (zeKernelGetProperties(native, &properties) == ZE_RESULT_SUCCESS)
            printf("kernel: %s, %u arguments\n", name, (unsigned)properties.numKernelArgs);
        ingot_kernel_release(kernel);
    }
    free(names);
}

int main(int count, char **arguments)
{
    ze_driver_handle_t driver;
    ze_context_handle_t ze_context;
    if (count != 3 || open_driver(&driver, &ze_context) != 0) {
        fputs("usage: level_zero_quickstart DIRECTORY MODULE.spv, on a machine with a Level Zero device\n", stderr);
        return 2;
    }
    size_t module_size = 0;
    void *module = read_module(arguments[2], &module_size);
    if (module == NULL) {
        fprintf(stderr, "cannot read %s\n", arguments[2]);
        return 1;
    }
    ingot_context_t context;
    ingot_source_t source;
    ingot_program_desc_t desc;
    ingot_storage_t store;
    ingot_program_t program;
    ingot_origin_t origin;
    ingot_source_info_t source_info = {
        .struct_size = sizeof(source_info), .kind = INGOT_SOURCE_SPIRV, .bytes = module, .size = module_size};
    ingot_program_info_t program_info = {.struct_size = sizeof(program_info), .sources = &source, .source_count = 1};
    ingot_persist_info_t store_info = {.struct_size = sizeof(store_info), .path = arguments[1]};

    CHECK(ingot_level_zero_context_create(&context, driver, ze_context, 0, NULL, NULL));
    CHECK(ingot_source_create(&source, &source_info));
    CHECK(ingot_program_desc_create(&desc, context, &program_info));
    CHECK(ingot_persist_open(&store, &store_info));
    CHECK(ingot_persist_program_create(&program, desc, store, &origin)); /* Loads, or builds and stores. */

    printf("devices: %u\norigin: %s\n", (unsigned)ingot_context_get_device_count(context), ingot_origin_name(origin));
    list_kernels(program, desc, store);

    ingot_program_release(program);
    ingot_storage_release(store);
    ingot_program_desc_release(desc);
    ingot_source_release(source);
    ingot_context_release(context); /* This was the last reference, so the native context may be destroyed now. */
    zeContextDestroy(ze_context);
    free(module);
    return 0;
}
