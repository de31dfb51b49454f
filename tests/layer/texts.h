/*
 * texts.h - makes the texts that the sequences compile. They are few and small, so that most builds are cache hits.
 */
#pragma once

#include <filesystem>
#include <string>

#include "hermetic/random.h"

namespace layer
{

using hermetic::Random;

struct Text {
    std::string name;
    std::string source;
    /* The names of its kernels. Most take (global int *out, int n); see can_be_launched. */
    std::vector<std::string> kernels;
};

/* Returns a random text, with a random version, which is a number in its source. */
Text random_text(Random *random);
/* Returns a text that builds without options and has a kernel that can be launched. */
Text good_text(Random *random);
/* Returns a text that builds with -I inc_a or -I inc_b, and has the kernel `included`. */
Text included_text(Random *random);
/* Returns two texts to be compiled separately: the second one calls a function of the first. */
std::vector<Text> linked_texts(Random *random);

/* Options as they are passed to a call. */
struct Options {
    bool is_null;
    std::string text;

    const char *pointer() const { return is_null ? nullptr : text.c_str(); }
};
Options build_options(Random *random);
Options link_options(Random *random);

/* The names of all kernels in any of the texts. */
const std::vector<std::string> &kernel_names();
/* True if a kernel with this name takes (global int *out, int n) in each text. */
bool can_be_launched(const std::string &kernel);

/* The first function writes the headers below the working directory, as every sequence expects them. The second one
 * changes the content of one header. */
void write_headers();
void edit_header(Random *random);

} // namespace layer
