/*
 * texts.h - what the sequences compile: few and small texts, so that most builds are known to a cache.
 */
#ifndef INGOT_TESTS_LAYER_TEXTS_H
#define INGOT_TESTS_LAYER_TEXTS_H

#include <filesystem>
#include <string>
#include <vector>

#include "hermetic/random.h"

namespace layer
{

using hermetic::Random;

struct Text {
    std::string name;
    std::string source;
    /* Kernels of (global int *out, int n); what others take is theirs. */
    std::vector<std::string> kernels;
};

/* The version is a number in the source. */
Text random_text(Random *random);
/* One that builds without options and has a kernel that can be launched. */
Text good_text(Random *random);
/* One that builds with -I inc_a or -I inc_b, and has the kernel `included`. */
Text included_text(Random *random);
/* Two that are compiled separately: the second calls a function of the first. */
std::vector<Text> linked_texts(Random *random);

/* Options as a call gets them. */
struct Options {
    bool is_null;
    std::string text;

    const char *pointer() const { return is_null ? nullptr : text.c_str(); }
};
Options build_options(Random *random);
Options link_options(Random *random);

/* Kernels that some text has. */
const std::vector<std::string> &kernel_names();
/* True if a kernel with this name takes (global int *out, int n) in each text. */
bool can_be_launched(const std::string &kernel);

/* Headers below the working directory, as they are before each sequence, and one of them with another content. */
void write_headers();
void edit_header(Random *random);

} // namespace layer

#endif
