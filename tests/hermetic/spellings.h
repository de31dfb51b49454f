/*
 * spellings.h - spells a name so that only the preprocessor sees it: composed by ##, from parts in texts, headers and
 * options, with splices and digraphs.
 */
#pragma once

#include <string>

#include "hermetic/random.h"

namespace hermetic
{

/* What the spelled names need. */
struct Spelled {
    std::string source;  /* definitions at the beginning of the source */
    std::string header;  /* definitions in a header that the source includes first */
    std::string options; /* definitions in options, each preceded by a blank */
};

class Speller
{
public:
    Speller(Random *random, Spelled *spelled) : random_(*random), spelled_(*spelled) {}

    /* Returns an expression that the preprocessor replaces with the name. */
    std::string name(const std::string &text);
    /* Returns an expression for a literal with these words. */
    std::string literal(const std::string &text);
    /* Returns the text with a backslash and a newline somewhere in it, or as it is. */
    std::string splice(std::string text);

private:
    std::string define(const std::string &body);
    std::string paste(const std::string &left, const std::string &right);
    std::string paste_operator(bool in_option);
    void put(const std::string &name, const std::string &parameters, const std::string &body, size_t place);
    std::string fresh() { return "m" + std::to_string(count_++) + "_x"; }

    Random &random_;
    Spelled &spelled_;
    size_t count_ = 0;
};

} // namespace hermetic
