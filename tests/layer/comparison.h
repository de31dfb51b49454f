/*
 * comparison.h - compares the transcripts of two runs of the same sequences of OpenCL calls.
 */
#pragma once

#include <fstream>
#include <string>
#include <vector>

namespace layer
{

/* The lines of one sequence. */
struct Block {
    size_t index = 0;
    std::vector<std::string> lines;
    bool is_ended = true; /* false: the process ended during the sequence */
};

/* The lines that begin and end a sequence in a transcript. */
std::string begin_of(size_t index);
extern const char *const end_line;

/* Reads a transcript, one sequence at a time. */
class Blocks
{
public:
    explicit Blocks(const std::string &path) : file_(path) {}
    /* Returns false at the end of the transcript. */
    bool next(Block *block);

private:
    std::ifstream file_;
    std::string ahead_;
};

struct Found {
    size_t index;     /* the number of the sequence */
    std::string text; /* describes the difference */
};

struct Comparison {
    size_t sequences = 0;
    size_t lines = 0;
    size_t crashes = 0; /* sequences in which the bare driver crashed; they are not compared */
    std::vector<Found> differences;
};

/* Stops when it has found `most` differences. */
Comparison compare(const std::string &bare_path, const std::string &other_path, const std::string &other_name,
                   size_t most);

} // namespace layer
