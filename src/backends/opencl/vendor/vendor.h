/*
 * vendor.h - describes how vendors' drivers differ: how their compilers read options, and what changes the
 * generated code.
 *
 * The files of this folder do not depend on the rest of the backend.
 */
#ifndef INGOT_BACKENDS_OPENCL_VENDOR_VENDOR_H
#define INGOT_BACKENDS_OPENCL_VENDOR_VENDOR_H

#include <ingot/private/backend.h>

enum opencl_vendor { OPENCL_OTHER, OPENCL_POCL, OPENCL_INTEL_GPU, OPENCL_INTEL_CPU, OPENCL_NVIDIA };

enum opencl_vendor opencl_vendor_of(const char *platform_name);

/* Sets how the vendor's compiler reads options and finds included files, as far as it is known. */
void opencl_vendor_get_text_rules(enum opencl_vendor vendor, ingot_text_rules_t *rules);

/* Returns a NULL-terminated list of the libraries that a driver opens at run time to compile. It depends on the
 * platform's name and not on enum opencl_vendor, because some drivers of OPENCL_OTHER open such libraries, too. */
const char *const *opencl_vendor_compilers(const char *platform_name);

/* Adds the fields "environment" and "settings": the environment variables and the files that change the code that a
 * driver generates. */
ingot_status_t opencl_vendor_add_settings(enum opencl_vendor vendor, ingot_identity_t *identity);

#endif
