/*
 * driver_copies.h - copies the OpenCL driver and libraries in such a way that a separate process finds the copies.
 */
#pragma once

#include "conformance/objects.h"

namespace conformance
{

/* Returns the absolute path for a path in the working directory. */
std::string absolute(const std::string &path);
std::string file_name(const std::string &path);
/* Returns the file that contains a function of the driver. */
std::string driver_path();

/* Returns environment variables with which a process uses this driver as its platform. */
Environment with_driver(const Bytes &driver);
/* Returns environment variables with which a process finds a copy of a library with another build-id. This process must
 * be able to load the library by its name. */
Environment with_another_build_of(const std::string &name);
/* Returns environment variables for a process whose PoCL lies in `directory`, with its data in
 * `directory`/share/pocl. */
Environment with_own_pocl(const std::string &directory);

} // namespace conformance
