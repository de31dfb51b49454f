/*
 * Tests the order and the limits of the queue of uploads.
 */
#include <gtest/gtest.h>

#include <string>

#include "support/remote_fixture.h"

extern "C" {
#include "remote/upload/upload_queue.h"
}

using namespace remote_fixture;

namespace
{

class Queue
{
public:
    explicit Queue(uint64_t max_bytes = 1 << 20, size_t max_count = 100)
    {
        upload_queue_init(&queue, max_bytes, max_count);
    }
    ~Queue() { upload_queue_fini(&queue); }
    ingot_status_t add(const std::string &id, const std::string &blob)
    {
        return upload_queue_add(&queue, key_of(id).data(), id.size(), reinterpret_cast<const uint8_t *>(id.data()),
                                blob.size(), reinterpret_cast<const uint8_t *>(blob.data()), &dropped_count);
    }
    /* Returns the blob of an id, or "removed" or "none". */
    std::string find(const std::string &id)
    {
        size_t size = 0;
        uint8_t *copy = nullptr;
        if (!upload_queue_find(&queue, key_of(id).data(), &size, &copy))
            return "none";
        const std::string text = size == 0 ? "removed" : std::string(reinterpret_cast<const char *>(copy), size);
        free(copy);
        return text;
    }
    std::string take() { return text_of(upload_queue_take(&queue)); }

    upload_queue queue;
    size_t dropped_count = 0;

private:
    static std::vector<char> key_of(const std::string &id)
    {
        std::vector<char> key(OBJECT_KEY_CAPACITY);
        object_key_of("default", id.size(), reinterpret_cast<const uint8_t *>(id.data()), key.data());
        return key;
    }
    static std::string text_of(const upload *upload)
    {
        if (upload == nullptr)
            return "none";
        const char *blob = reinterpret_cast<const char *>(upload->blob);
        return upload->blob_size == 0 ? "removed" : std::string(blob, upload->blob_size);
    }
};

} // namespace

TEST(RemoteQueue, GivesTheOldestFirst)
{
    Queue queue;
    EXPECT_EQ("none", queue.take());
    EXPECT_EQ(INGOT_SUCCESS, queue.add("a", "1"));
    EXPECT_EQ(INGOT_SUCCESS, queue.add("b", "2"));
    EXPECT_EQ("1", queue.take());
    upload_queue_finish(&queue.queue, false);
    EXPECT_EQ("2", queue.take());
    upload_queue_finish(&queue.queue, false);
    EXPECT_EQ("none", queue.take());
}

TEST(RemoteQueue, KeepsOnlyTheLatestOfAnId)
{
    Queue queue;
    queue.add("a", "1");
    queue.add("b", "2");
    queue.add("a", "3");
    EXPECT_EQ("3", queue.find("a"));
    queue.add("b", "");
    EXPECT_EQ("removed", queue.find("b"));
    EXPECT_EQ(2u, upload_queue_count(&queue.queue));
    EXPECT_EQ("3", queue.take());
    upload_queue_finish(&queue.queue, false);
    EXPECT_EQ("removed", queue.take());
    upload_queue_finish(&queue.queue, false);
    EXPECT_EQ(0u, queue.queue.bytes);
}

TEST(RemoteQueue, DropsTheOldestAtEitherLimit)
{
    Queue few(1 << 20, 2);
    few.add("a", "1");
    few.add("b", "2");
    EXPECT_EQ(0u, few.dropped_count);
    few.add("c", "3");
    EXPECT_EQ(1u, few.dropped_count);
    EXPECT_EQ("none", few.find("a"));
    EXPECT_EQ("2", few.find("b"));

    Queue small(4096, 100);
    small.add("a", std::string(1500, 'x'));
    small.add("b", std::string(1500, 'y'));
    small.add("c", std::string(3500, 'z'));
    EXPECT_EQ(2u, small.dropped_count);
    EXPECT_EQ(std::string(3500, 'z'), small.find("c"));
    EXPECT_EQ(INGOT_NO_SPACE, small.add("d", std::string(5000, 'w')));
    EXPECT_EQ(std::string(3500, 'z'), small.find("c")) << "what cannot be taken drops nothing";
}

TEST(RemoteQueue, FindsWhatIsBeingUploaded)
{
    Queue queue;
    queue.add("a", "1");
    EXPECT_EQ("1", queue.take());
    EXPECT_EQ("1", queue.find("a"));
    EXPECT_EQ(1u, upload_queue_count(&queue.queue));
    queue.add("a", "2");
    EXPECT_EQ("2", queue.find("a")) << "the later one counts";
    upload_queue_finish(&queue.queue, true);
    EXPECT_EQ("2", queue.take()) << "an earlier one is not tried again";
    upload_queue_finish(&queue.queue, false);
    EXPECT_EQ("none", queue.take());
}

TEST(RemoteQueue, TriesAFailedUploadFirst)
{
    Queue queue;
    queue.add("a", "1");
    EXPECT_EQ("1", queue.take());
    queue.add("b", "2");
    upload_queue_finish(&queue.queue, true);
    EXPECT_EQ("1", queue.take());
    upload_queue_finish(&queue.queue, true);
    EXPECT_EQ(2u, upload_queue_count(&queue.queue));
}

TEST(RemoteQueue, NumbersItemsInTheOrderOfTheirArrival)
{
    Queue queue;
    EXPECT_FALSE(upload_queue_has_up_to(&queue.queue, UINT64_MAX));
    queue.add("a", "1");
    const uint64_t number = queue.queue.last_number;
    queue.add("b", "2");
    EXPECT_TRUE(upload_queue_has_up_to(&queue.queue, number));
    queue.take();
    EXPECT_TRUE(upload_queue_has_up_to(&queue.queue, number)) << "the item is being uploaded";
    upload_queue_finish(&queue.queue, true);
    EXPECT_TRUE(upload_queue_has_up_to(&queue.queue, number)) << "the item will be tried again";
    queue.take();
    upload_queue_finish(&queue.queue, false);
    EXPECT_FALSE(upload_queue_has_up_to(&queue.queue, number));
    EXPECT_FALSE(upload_queue_has_up_to(&queue.queue, number));
    EXPECT_TRUE(upload_queue_has_up_to(&queue.queue, queue.queue.last_number));
}

/* The lease of a program must not last longer than the program's upload waits. */
TEST(RemoteQueue, KnowsThatAnItemWasDroppedOrReplaced)
{
    Queue queue(1 << 20, 2);
    queue.add("a", "1");
    const uint64_t first = queue.queue.last_number;
    queue.add("b", "2");
    const uint64_t second = queue.queue.last_number;
    EXPECT_TRUE(upload_queue_has_up_to(&queue.queue, first));
    queue.add("c", "3");
    EXPECT_EQ(1u, queue.dropped_count);
    EXPECT_FALSE(upload_queue_has_up_to(&queue.queue, first));
    EXPECT_TRUE(upload_queue_has_up_to(&queue.queue, second));
    queue.add("b", "");
    EXPECT_FALSE(upload_queue_has_up_to(&queue.queue, second));
}

TEST(RemoteQueue, TakesNothingOnceClosed)
{
    Queue queue;
    queue.add("a", "1");
    queue.add("b", "2");
    EXPECT_EQ(2u, upload_queue_close(&queue.queue));
    EXPECT_EQ(INGOT_READ_ONLY, queue.add("c", "3"));
    EXPECT_EQ("none", queue.take());
}
