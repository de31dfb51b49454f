/* Option strings: what is taken out of them, and what stays byte for byte. */
#include <string>

#include <gtest/gtest.h>

extern "C" {
#include "core/include_closure/include_closure.h"
#include "core/include_closure/options.h"
}
#include "support/failing_allocator.h"

namespace
{

std::string without_paths(const std::string &options)
{
    ingot_allocator_t allocator;
    EXPECT_EQ(INGOT_SUCCESS, alloc_init(&allocator, nullptr));
    char *result = nullptr;
    EXPECT_EQ(INGOT_SUCCESS, options_without_paths(&allocator, options.c_str(), &result));
    const std::string text = result;
    alloc_free_text(&allocator, result);
    return text;
}

/* "kind:value" of each option that says something, by spaces. */
std::string parsed(const std::string &options)
{
    ingot_allocator_t allocator;
    EXPECT_EQ(INGOT_SUCCESS, alloc_init(&allocator, nullptr));
    arena pieces;
    arena_init(&pieces, &allocator);
    std::string text;
    for (const option *at = options_parse(&pieces, options.c_str()); at != nullptr; at = at->next)
        text += std::string(1, "oIDUix"[at->kind]) + ":" + at->value + ";";
    arena_fini(&pieces);
    return text;
}

TEST(Options, ReadsValuesJoinedAndApart)
{
    EXPECT_EQ("I:a;I:b;D:X=1;D:Y;U:Z;i:f;o:-w;", parsed("-Ia -I b -DX=1 -D Y -UZ -include f -w"));
    EXPECT_EQ("I:a;I:b;D:X;i:f;", parsed("--include-path=a --include-path b --define-macro=X --pre-include=f"));
}

TEST(Options, ReadsQuotesAndBackslashes)
{
    EXPECT_EQ("I:a b;D:X=\"q\";I:c d;D:Y=p q;", parsed("-I\"a b\" -DX=\\\"q\\\" \"-Ic d\" -D'Y=p q'"));
    EXPECT_EQ("I:a b;", parsed("-I a\\ b"));
    EXPECT_EQ("D:X=open end;", parsed("-DX=\"open end"));
}

TEST(Options, MarksWhatIsNotFollowed)
{
    EXPECT_EQ("x:-isystem;x:@file;x:-imacros;o:-cl-std=CL1.2;", parsed("-isystem d @file -imacros m -cl-std=CL1.2"));
}

TEST(Options, DoesNotTakeAnOptionForADirectory)
{
    EXPECT_EQ("o:-I;D:X;", parsed("-I -DX"));
    EXPECT_EQ("o:-I;", parsed("-I"));
}

TEST(OptionsWithoutPaths, RemovesDirectoriesOnly)
{
    EXPECT_EQ("-DX -w", without_paths("-Ia -DX -I b -w -I \"c d\""));
    EXPECT_EQ("-DX  -w", without_paths("-DX  -w"));
    EXPECT_EQ("-DX=-Ia", without_paths("-DX=-Ia"));
    EXPECT_EQ("-D -Ia", without_paths("-D -Ia"));
    EXPECT_EQ("", without_paths("-Ia -I'b' \"-Ic\""));
    EXPECT_EQ("", without_paths(""));
    EXPECT_EQ("-I", without_paths("-I"));
    EXPECT_EQ("-I -DX", without_paths("-I -DX"));
    EXPECT_EQ("-DA=\"x -Iy\" -DB", without_paths("-DA=\"x -Iy\" -I z -DB"));
}

TEST(OptionsWithoutPaths, KeepsWhatACompilerWithoutQuotesWouldReadOtherwise)
{
    EXPECT_EQ("-I\"a -DX=1\" -w", without_paths("-I\"a -DX=1\" -w"));
    EXPECT_EQ("-I \"a -DX=1\" -w", without_paths("-I \"a -DX=1\" -w"));
}

TEST(OptionsWithoutPaths, IsTheSameForEveryPlaceOfDirectories)
{
    EXPECT_EQ(without_paths("-DA -I x -DB"), without_paths("-I y/z -DA -DB -I w"));
}

TEST(OptionsWithoutPaths, FailsCleanlyAtEveryAllocation)
{
    for (size_t n = 0;; ++n) {
        FailingAllocator failing(n);
        ingot_allocator_t allocator;
        ASSERT_EQ(INGOT_SUCCESS, alloc_init(&allocator, failing.table()));
        char *result = nullptr;
        const ingot_status_t status = options_without_paths(&allocator, "-I a -DX=\"y z\"", &result);
        if (status == INGOT_SUCCESS)
            alloc_free_text(&allocator, result);
        ASSERT_EQ(0u, failing.live_count());
        if (status == INGOT_SUCCESS)
            return;
        ASSERT_EQ(INGOT_OUT_OF_MEMORY, status);
    }
}

} // namespace
