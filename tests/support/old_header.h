/*
 * old_header.h - describes programs that include a file. A context's header memo relies on the file immediately,
 * because the memo's clock is set an hour ahead. A test that uses this header must be linked with WRAP os_file_clock_ns
 * (cmake/IngotTest.cmake).
 */
#pragma once

#include <fstream>

#include "support/reference_context.h"
#include "support/scratch_directory.h"

inline uint64_t file_clock_offset_ns = 0;

extern "C" {
uint64_t __real_os_file_clock_ns(void);
uint64_t __wrap_os_file_clock_ns(void);
inline uint64_t __attribute__((used)) __wrap_os_file_clock_ns(void)
{
    return __real_os_file_clock_ns() + file_clock_offset_ns;
}
}

class OldHeader
{
public:
    OldHeader()
    {
        std::ofstream(directory_.path() / "old.h") << "#define OLD 1\n";
        file_clock_offset_ns = uint64_t{3600} * 1000000000;
    }
    ~OldHeader() { file_clock_offset_ns = 0; }

    ProgramText program(int number = 0) const
    {
        ProgramText text;
        text.sources = {"#include \"old.h\"\nkernel n" + std::to_string(number) + " x\n"};
        text.compile_options = "-I " + directory_.path().string();
        return text;
    }

    const std::filesystem::path &directory() const { return directory_.path(); }

private:
    ScratchDirectory directory_{"/var/tmp"}; /* the memo does not rely on files in a tmpfs */
};
