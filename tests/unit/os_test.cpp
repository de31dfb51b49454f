/*
 * os_test.cpp - files read whole.
 */
#include "support/scratch_directory.h"

#include <gtest/gtest.h>

#include <sys/stat.h>

#include <fstream>
#include <string>

extern "C" {
#include "core/os.h"
}

namespace {

class ReadFile : public testing::Test {
protected:
    void SetUp() override
    {
        ASSERT_EQ(INGOT_SUCCESS, alloc_init(&allocator_, nullptr));
        bytes_writer_init(&content_, &allocator_);
    }
    void TearDown() override { bytes_writer_fini(&content_); }

    ingot_status_t read(const std::string &path)
    {
        bytes_writer_fini(&content_);
        return os_read_file(path.c_str(), &content_);
    }
    std::string text() const { return std::string(reinterpret_cast<const char *>(content_.bytes), content_.size); }

    ScratchDirectory scratch_;
    ingot_allocator_t allocator_ = {};
    bytes_writer content_ = {};
};

TEST_F(ReadFile, TakesOneBufferForAFileOfAKnownSize)
{
    const std::string path = scratch_.path() / "file";
    for (const size_t size : { size_t(1000), size_t(65536), size_t(1000000) }) {
        std::string text(size, 'a');
        text.back() = 'z';
        std::ofstream(path) << text;
        ASSERT_EQ(INGOT_SUCCESS, read(path));
        EXPECT_TRUE(text == this->text()) << size;
        EXPECT_EQ(size + 1, content_.capacity);
    }
}

TEST_F(ReadFile, ReadsEmptyFilesAndThoseThatDoNotSayTheirSize)
{
    const std::string path = scratch_.path() / "empty";
    std::ofstream(path) << "";
    ASSERT_EQ(INGOT_SUCCESS, read(path));
    EXPECT_EQ(0u, content_.size);
    ASSERT_EQ(INGOT_SUCCESS, read("/proc/self/maps"));
    EXPECT_NE(std::string::npos, text().find("[stack]"));
}

TEST_F(ReadFile, RefusesWhatIsNoRegularFile)
{
    EXPECT_EQ(INGOT_NOT_FOUND, read(scratch_.path() / "absent"));
    EXPECT_EQ(INGOT_IO_ERROR, read(scratch_.path()));
    const std::string pipe = scratch_.path() / "pipe";
    ASSERT_EQ(0, mkfifo(pipe.c_str(), 0600));
    EXPECT_EQ(INGOT_IO_ERROR, read(pipe));
}

} // namespace
