/*
 * driver_copies.h - copies of the OpenCL driver and of libraries, for a separate process to find.
 */
#ifndef INGOT_TESTS_CONFORMANCE_DRIVER_COPIES_H
#define INGOT_TESTS_CONFORMANCE_DRIVER_COPIES_H

#include <string>

#include "conformance/objects.h"

namespace conformance
{

/* Of a path in the working directory. */
std::string absolute(const std::string &path);
std::string file_name(const std::string &path);
/* Returns the file that contains a function of the driver. */
std::string driver_path();

/* Returns variables with which a process finds this instead of the library of the same name. */
Environment with_library(const std::string &name, const Bytes &bytes);
/* Returns variables with which a process's platform is this driver. */
Environment with_driver(const Bytes &driver);
/* A library that the process can load, by its name, with another build-id. */
Environment with_another_build_of(const std::string &name);
/* A process whose PoCL lies in a directory of its own, with its data beside it: DIRECTORY/share/pocl. */
Environment with_own_pocl(const std::string &directory);

} // namespace conformance

#endif
