/*
 * build_log.h - makes build logs comparable.
 */
#ifndef INGOT_TESTS_HERMETIC_BUILD_LOG_H
#define INGOT_TESTS_HERMETIC_BUILD_LOG_H

#include <string>

namespace hermetic
{

/* Returns a build log without folders, and with a constant name for the source. */
std::string log_without_names(const std::string &log);

} // namespace hermetic

#endif
