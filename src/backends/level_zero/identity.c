/*
 * identity.c - adds the fields that identify a device, its driver and the compiler.
 *
 * Devices with equal fields share binaries. So everything that selects code is a field: what the driver reports about
 * the device and about the code that it accepts, the build-ids of the driver and the compiler (some upgrades keep the
 * version), and the environment variables that change the generated code. Whatever belongs to one machine or one
 * process (UUIDs, ordinals, clock rates, memory sizes, handles) is not a field. Neither are the driver's extensions,
 * because the driver's version determines them.
 */
#include "backends/level_zero/backend.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* These functions lead to the driver's library, because drivers have them and the loader does not. If a driver has none
 * of them, its library is found by one of the names below. */
static const char *const driver_functions[] = {"zexDriverImportExternalPointer", "zexDriverGetHostPointerBaseAddress"};
static const char *const driver_libraries[] = {"libze_intel_gpu.so.1", "libze_intel_npu.so.1", "libze_intel_vpu.so.1"};

/* Libraries that drivers open at run time to compile. */
static const char *const compilers[] = {
    "libigc.so.2", "libigc.so.1", "libigdfcl.so.2", "libigdfcl.so.1", "libnpu_driver_compiler.so", NULL};

/* Environment variables that change the code that a driver generates. Intel's graphics compiler reads all its options
 * from such variables. Intel's driver reads variables of its own (debug keys) only if one of the switches is set. */
static const char *const code_variables[] = {"IGC_*", NULL};
static const char *const switches[] = {"NEOReadDebugKeys", "NEO_NEOReadDebugKeys", "NEO_L0_NEOReadDebugKeys"};
static const char *const code_variables_and_keys[] = {
    "IGC_*", "Aa*", "NEO_*", "!NEO_CACHE_*", "!AUBDump*", "!Print*", "!Log*", "!Dump*", "!CreateMultipleRootDevices",
    NULL,
};
static const char *const settings[] = {"igdrcl.config", NULL}; /* read from the current directory */

/* Defined by the extension ZE_extension_device_ip_version, but not in headers before 1.9. */
#define STRUCTURE_TYPE_IP_VERSION ((ze_structure_type_t)0x1000f)
struct ip_version {
    ze_structure_type_t stype;
    const void *pNext;
    uint32_t version;
};

struct number {
    const char *name;
    uint32_t value;
};

static ingot_status_t add_numbers(ingot_identity_t *identity, size_t count, const struct number *numbers)
{
    ingot_status_t status = INGOT_SUCCESS;
    for (size_t i = 0; i < count && status == INGOT_SUCCESS; ++i) {
        char text[16] = "";
        (void)snprintf(text, sizeof(text), "0x%04x", (unsigned)numbers[i].value);
        status = ingot_identity_add(identity, numbers[i].name, strlen(text), text);
    }
    return status;
}

static ingot_status_t add_device_properties(const struct level_zero_state *state, uint32_t device_index,
                                            ingot_identity_t *identity)
{
    struct ip_version ip = {.stype = STRUCTURE_TYPE_IP_VERSION};
    ze_device_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES,
                                         .pNext = state->reports_ip_version ? &ip : NULL};
    const ze_result_t result = zeDeviceGetProperties(state->devices[device_index], &properties);
    if (result != ZE_RESULT_SUCCESS)
        return level_zero_fail(INGOT_BACKEND_ERROR, "zeDeviceGetProperties", result);
    const struct number numbers[] = {
        {"device_type", (uint32_t)properties.type},
        {"vendor_id", properties.vendorId},
        {"device_id", properties.deviceId},
        {"device_flags", properties.flags},
        {"threads_per_eu", properties.numThreadsPerEU},
        {"simd_width", properties.physicalEUSimdWidth},
        {"eus_per_subslice", properties.numEUsPerSubslice},
        {"subslices_per_slice", properties.numSubslicesPerSlice},
        {"slices", properties.numSlices},
        {"ip_version", ip.version},
    };
    const ingot_status_t status =
        ingot_identity_add(identity, "device_name", strnlen(properties.name, sizeof(properties.name)), properties.name);
    if (status != INGOT_SUCCESS)
        return status;
    return add_numbers(identity, sizeof(numbers) / sizeof(numbers[0]) - (state->reports_ip_version ? 0 : 1), numbers);
}

/* Adds the UUID that identifies the format of native binaries. The UUID is zero if the driver does not report one. */
static ingot_status_t add_native_kernel(ingot_identity_t *identity, const ze_native_kernel_uuid_t *uuid)
{
    char text[2 * sizeof(uuid->id) + 1] = "";
    for (size_t i = 0; i < sizeof(uuid->id); ++i)
        (void)snprintf(text + 2 * i, 3, "%02x", (unsigned)uuid->id[i]);
    return ingot_identity_add(identity, "native_kernel", strlen(text), text);
}

static ingot_status_t add_module_properties(const struct level_zero_state *state, uint32_t device_index,
                                            ingot_identity_t *identity)
{
    ze_device_module_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MODULE_PROPERTIES};
    ingot_status_t status = level_zero_module_properties(state, device_index, &properties);
    if (status != INGOT_SUCCESS)
        return status;
    const struct number numbers[] = {
        {"spirv_version", properties.spirvVersionSupported},
        {"module_flags", properties.flags},
        {"fp16_flags", properties.fp16flags},
        {"fp32_flags", properties.fp32flags},
        {"fp64_flags", properties.fp64flags},
    };
    status = add_numbers(identity, sizeof(numbers) / sizeof(numbers[0]), numbers);
    return status == INGOT_SUCCESS ? add_native_kernel(identity, &properties.nativeKernelSupported) : status;
}

/* Finds a function inside the driver's library. zeModuleCreate would not do, because it belongs to the loader. */
static ingot_status_t find_driver_function(const struct level_zero_state *state, const void **function)
{
    for (size_t i = 0; i < sizeof(driver_functions) / sizeof(driver_functions[0]); ++i) {
        void *found = NULL;
        if (zeDriverGetExtensionFunctionAddress(state->driver, driver_functions[i], &found) == ZE_RESULT_SUCCESS &&
            found != NULL) {
            *function = found;
            return INGOT_SUCCESS;
        }
    }
    for (size_t i = 0; i < sizeof(driver_libraries) / sizeof(driver_libraries[0]); ++i) {
        void *library = dlopen(driver_libraries[i], RTLD_LAZY | RTLD_NOLOAD);
        if (library == NULL)
            continue;
        *function = dlsym(library, "zeGetModuleProcAddrTable");
        (void)dlclose(library); /* the loader's own reference keeps it loaded */
        if (*function != NULL)
            return INGOT_SUCCESS;
    }
    return ingot_set_error_detail(INGOT_BACKEND_ERROR, "the library of the Level Zero driver was not found");
}

ingot_status_t level_zero_identify_device(void *opaque, uint32_t device_index, ingot_identity_t *identity)
{
    const struct level_zero_state *state = opaque;
    ze_driver_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_DRIVER_PROPERTIES};
    ze_api_version_t api_version = ZE_API_VERSION_1_0;
    ze_result_t result = zeDriverGetProperties(state->driver, &properties);
    if (result != ZE_RESULT_SUCCESS)
        return level_zero_fail(INGOT_BACKEND_ERROR, "zeDriverGetProperties", result);
    result = zeDriverGetApiVersion(state->driver, &api_version);
    if (result != ZE_RESULT_SUCCESS)
        return level_zero_fail(INGOT_BACKEND_ERROR, "zeDriverGetApiVersion", result);
    const struct number numbers[] = {
        {"driver_version", properties.driverVersion},
        {"api_version", (uint32_t)api_version},
    };
    ingot_status_t status = add_numbers(identity, sizeof(numbers) / sizeof(numbers[0]), numbers);
    if (status == INGOT_SUCCESS)
        status = add_device_properties(state, device_index, identity);
    if (status == INGOT_SUCCESS)
        status = add_module_properties(state, device_index, identity);
    if (status == INGOT_SUCCESS) {
        const void *function = NULL;
        status = find_driver_function(state, &function);
        if (status == INGOT_SUCCESS)
            status = ingot_identity_add_compiler(identity, function, compilers);
    }
    if (status == INGOT_SUCCESS) {
        bool reads_keys = false;
        for (size_t i = 0; i < sizeof(switches) / sizeof(switches[0]); ++i)
            reads_keys = reads_keys || getenv(switches[i]) != NULL;
        status = ingot_identity_add_environment(identity, reads_keys ? code_variables_and_keys : code_variables);
        if (status == INGOT_SUCCESS && reads_keys)
            status = ingot_identity_add_files(identity, "settings", settings);
    }
    return status;
}
