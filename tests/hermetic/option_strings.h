/*
 * option_strings.h - option strings that compilers could read in more than one way, over a tree of folders.
 */
#ifndef INGOT_TESTS_HERMETIC_OPTION_STRINGS_H
#define INGOT_TESTS_HERMETIC_OPTION_STRINGS_H

#include <string>
#include <vector>

#include "hermetic/random.h"

namespace hermetic
{

/* The folders of the tree, relative to the current one, with names that are difficult in options. */
const std::vector<std::string> &option_folders();

/* `root` is the current folder's path. */
std::string option_string(Random *random, const std::string &root, bool is_cuda);

} // namespace hermetic

#endif
