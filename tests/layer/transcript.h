/*
 * transcript.h - all that a sequence of OpenCL calls returned, a line each, without a byte that two equal runs could
 * not share: handles have names, and an address never appears.
 */
#ifndef INGOT_TESTS_LAYER_TRANSCRIPT_H
#define INGOT_TESTS_LAYER_TRANSCRIPT_H

#include <cstdio>
#include <map>
#include <string>

namespace layer
{

template <typename Number> std::string number(Number value)
{
    return std::to_string(value);
}

/* On one line, with what PoCL calls its temporary files taken out. */
std::string escaped(const std::string &text);

class Transcript
{
public:
    /* Appends to the file. */
    explicit Transcript(const std::string &path);
    Transcript(const Transcript &) = delete;
    Transcript &operator=(const Transcript &) = delete;
    ~Transcript();

    void line(const std::string &text);

    /* Later names replace earlier ones, as a driver uses an address again. */
    void name(const void *handle, const std::string &name) { names_[handle] = name; }
    /* "NULL" for NULL, "a stranger" for a handle without a name. */
    std::string of(const void *handle) const;
    void forget_names() { names_.clear(); }

private:
    std::FILE *file_;
    std::map<const void *, std::string> names_;
};

} // namespace layer

#endif
