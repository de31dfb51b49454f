/*
 * children.h - runs parts of a test in a separate process, with another environment or from a fresh start.
 */
#pragma once

#include <string>

#include "conformance/objects.h"

namespace conformance
{

/* Returns the id of two_kernels(), computed in a new process. */
Bytes id_in_child(const Environment &environment);
/* Builds two_kernels() in a new process, and launches it if possible. Returns its blob. is_second: the process has
 * already taken a blob before the launch. */
Bytes blob_in_child(const Environment &environment, bool is_second = false);
/*
 * Loads the blob in a new process, and launches "twice" with 21 if kernels compute results. Returns the output of the
 * process: "loaded", the result, and "helped" if a compiler or linker ran in another process, or "alone" if not.
 */
std::string warm_in_child(const Bytes &blob, const Environment &environment);
/* Does the same, but builds the program instead of loading it. */
std::string cold_in_child(const Environment &environment);

/* Tries to load the blob in a new process. Returns the name of the status. */
std::string status_in_child(const Bytes &blob, const Environment &environment);

/* If the arguments name a part, runs it, sets *exit_status, and returns true. */
bool run_as_child(int argc, char **argv, int *exit_status);

} // namespace conformance
