/*
 * reduce.h - reduces a project that shows a difference.
 */
#pragma once

#include <functional>

#include "hermetic/project.h"

namespace hermetic
{

/* Removes files, and then groups of lines, as long as `is_interesting` is true for what remains. */
Project reduce_project(const Project &project, const std::function<bool(const Project &)> &is_interesting);

} // namespace hermetic
