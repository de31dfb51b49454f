/*
 * build_log.h - build logs, made comparable.
 */
#ifndef INGOT_TESTS_HERMETIC_BUILD_LOG_H
#define INGOT_TESTS_HERMETIC_BUILD_LOG_H

#include <string>

namespace hermetic
{

/* Without names of files. */
std::string log_without_names(const std::string &log);

} // namespace hermetic

#endif
