/*
 * build_log.h - makes build logs comparable.
 */
#pragma once

#include <string>

namespace hermetic
{

/* Returns a build log without folders, and with a constant name for the source. */
std::string log_without_names(const std::string &log);

} // namespace hermetic
