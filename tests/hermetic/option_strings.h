/*
 * option_strings.h - generates option strings that compilers could read in more than one way. The strings name folders
 * of a directory tree.
 */
#pragma once

#include <string>

#include <ingot/ingot.h>

#include "hermetic/random.h"

namespace hermetic
{

/* Returns the folders of the tree, relative to its root. Many names are difficult in options. */
const std::vector<std::string> &option_folders();

/* Returns a random option string. root: the path of the tree, which is the current folder. */
std::string option_string(Random *random, const std::string &root, ingot_source_kind_t kind);

} // namespace hermetic
