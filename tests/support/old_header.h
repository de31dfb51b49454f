/*
 * old_header.h - a program that includes a file of the source tree, on which a context's memo of headers relies.
 */
#ifndef INGOT_TESTS_SUPPORT_OLD_HEADER_H
#define INGOT_TESTS_SUPPORT_OLD_HEADER_H

#include <sys/stat.h>

#include <ctime>

#include "support/reference_context.h"

inline ProgramText old_header_program(int number = 0)
{
    ProgramText text;
    text.sources = {"#include \"export.h\"\nkernel n" + std::to_string(number) + " x\n"}; /* it includes nothing */
    text.compile_options = "-I " INGOT_SOURCE_DIR "/include/ingot";
    return text;
}

/* False right after the source tree was made: the memo waits for a minute. */
inline bool old_header_is_old()
{
    struct stat about = {};
    return stat(INGOT_SOURCE_DIR "/include/ingot/export.h", &about) == 0 && std::time(nullptr) - about.st_ctime > 62;
}

#endif
