/*
 * exit_driver.cpp - loads the reference backend from a shared library when a context is created, as if it were a
 * driver, and can unload this library.
 */
#include <dlfcn.h>

#include "support/reference_backend.h"

static void *driver;

template <typename Function> static Function *find(const char *name)
{
    return driver != nullptr ? reinterpret_cast<Function *>(dlsym(driver, name)) : nullptr;
}

ingot_status_t reference_context_create(ingot_context_t *context, const reference_info_t *info,
                                        const ingot_context_info_t *context_info)
{
    driver = dlopen(EXIT_DRIVER, RTLD_NOW | RTLD_LOCAL);
    auto *create = find<decltype(reference_context_create)>("reference_context_create");
    if (create == nullptr)
        return ingot_set_error_detail(INGOT_BACKEND_ERROR, "%s", dlerror());
    return create(context, info, context_info);
}

ingot_status_t reference_kernel_run(const_ingot_kernel_t, int64_t, int64_t *)
{
    return ingot_set_error_detail(INGOT_UNIMPLEMENTED, "nothing is run here");
}

bool unload_driver()
{
    const bool is_closed = driver != nullptr && dlclose(driver) == 0;
    driver = nullptr;
    return is_closed && dlopen(EXIT_DRIVER, RTLD_NOW | RTLD_NOLOAD) == nullptr;
}
