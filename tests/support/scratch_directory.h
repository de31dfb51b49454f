/*
 * scratch_directory.h - a private directory that is deleted with the object.
 */
#pragma once

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>

#include "support/not_copied.h"

class ScratchDirectory : NotCopied
{
public:
    ScratchDirectory() : ScratchDirectory(std::getenv("TMPDIR")) {}
    /* Makes a directory below `base`, or below /tmp if `base` is NULL. */
    explicit ScratchDirectory(const char *base)
    {
        std::string pattern = std::string(base != nullptr ? base : "/tmp") + "/ingot-XXXXXX";
        if (mkdtemp(pattern.data()) == nullptr)
            throw std::runtime_error("no scratch directory " + pattern);
        path_ = pattern;
    }
    ~ScratchDirectory()
    {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    const std::filesystem::path &path() const { return path_; }

private:
    std::filesystem::path path_;
};
