/*
 * build_log.h - makes build logs comparable.
 */
#ifndef INGOT_TESTS_HERMETIC_BUILD_LOG_H
#define INGOT_TESTS_HERMETIC_BUILD_LOG_H

#include <string>

namespace hermetic
{

/* Returns a build log without the names of files. */
std::string log_without_names(const std::string &log);

} // namespace hermetic

#endif
