/*
 * reduce.h - reduces a project that shows a difference.
 */
#ifndef INGOT_TESTS_HERMETIC_REDUCE_H
#define INGOT_TESTS_HERMETIC_REDUCE_H

#include <functional>

#include "hermetic/project.h"

namespace hermetic
{

/* Takes files, then runs of lines away for as long as `is_interesting` says so of what is left. */
Project reduce_project(const Project &project, const std::function<bool(const Project &)> &is_interesting);

} // namespace hermetic

#endif
