/*
 * tables.c - forwards the loader's requests for tables of functions to the driver.
 *
 * The list of tables is made from the installed headers (CMakeLists.txt). The driver fills each table itself, also one
 * of a later version than these headers, so all functions are the driver's own; module.c and build_log.c
 * replace some of them.
 */
#include "layers/level_zero/layer.h"

#define TABLE(name)                                                                                                    \
    ze_result_t ZE_APICALL name(ze_api_version_t version, void *table);                                                \
    __attribute__((visibility("default"))) ze_result_t ZE_APICALL name(ze_api_version_t version, void *table)          \
    {                                                                                                                  \
        return driver_fill_table(#name, version, table);                                                               \
    }

#include "layers/level_zero/tables.inc"
