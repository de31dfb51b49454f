/*
 * recipe_kill_test [KILLS] - tests processes that append to one recipe and are killed at any moment.
 *
 * After each kill, the file must be readable and contain every program that a process had finished recording.
 */
#include <gtest/gtest.h>

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <new>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "support/forked_child.h"
#include "support/recipe_fixture.h"
#include "support/scratch_directory.h"
#include "support/store_fixture.h"

using namespace recipe_fixture;

namespace
{

constexpr int kProcesses = 4;
constexpr unsigned kHangSeconds = 200;
int least_kills = 100;

/* Shared by the processes: how many programs each of them has recorded. */
struct Board {
    std::atomic<unsigned> recorded[kProcesses];
};

std::string source_of(int process, unsigned number)
{
    std::string text = "kernel p" + std::to_string(process) + "n" + std::to_string(number) + " x\n";
    while (text.size() < 3000 * (number % 4)) /* long texts are compressed */
        text += "kernel filler" + std::to_string(text.size() * 7919) + " x 2 *\n";
    return text;
}

Desc describe_number(const Context &context, int process, unsigned number)
{
    ProgramText text;
    text.sources = {source_of(process, number)};
    return text.make(context);
}

class RecipeKill : public testing::Test
{
protected:
    RecipeKill() : scratch_(store_fixture::fast_volume()), path_((scratch_.path() / "programs.recipe").string())
    {
        void *memory = mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED)
            throw std::bad_alloc();
        board_ = new (memory) Board{};
    }
    ~RecipeKill() override { munmap(board_, sizeof(Board)); }

    /* Records programs until the process is killed. */
    int record(int process) const
    {
        alarm(kHangSeconds);
        ReferenceDevice device;
        const Context context = device.make();
        const Writer writer = open_writer(path_, uint64_t{1} << 30);
        for (unsigned number = board_->recorded[process];; ++number) {
            const Desc desc = describe_number(context, process, number);
            if (ingot_recipe_writer_add(writer.get(), desc.get(), nullptr, nullptr) != INGOT_SUCCESS)
                return 1;
            board_->recorded[process] = number + 1;
        }
    }
    void begin_round()
    {
        std::filesystem::remove(path_);
        for (auto &count : board_->recorded)
            count = 0;
    }
    uint64_t total() const
    {
        uint64_t sum = 0;
        for (const auto &count : board_->recorded)
            sum += count;
        return sum;
    }
    /* Expects a readable file with at least the first `recorded` programs of each process. */
    void expect_sound(const std::vector<unsigned> &recorded) const
    {
        Recipe recipe;
        const ingot_status_t status = try_open_recipe(path_, &recipe);
        if (status == INGOT_NOT_FOUND && std::count(recorded.begin(), recorded.end(), 0u) == kProcesses)
            return; /* the first process was killed before it had made the file */
        ASSERT_EQ(INGOT_SUCCESS, status) << ingot_last_error_detail();
        EXPECT_EQ(0u, summary_of(recipe).damaged_count);
        std::vector<std::string> texts;
        for (size_t i = 0; i < summary_of(recipe).program_count; ++i) {
            const ingot_recipe_program_t program = program_of(recipe, i);
            ASSERT_EQ(INGOT_SUCCESS, program.status) << program.reason;
            texts.push_back(text_of(recipe, program.sources[0]));
        }
        std::sort(texts.begin(), texts.end());
        for (int process = 0; process < kProcesses; ++process)
            for (unsigned number = 0; number < recorded[static_cast<size_t>(process)]; ++number)
                ASSERT_TRUE(std::binary_search(texts.begin(), texts.end(), source_of(process, number)))
                    << process << " " << number;
    }
    std::vector<unsigned> recorded() const { return {std::begin(board_->recorded), std::end(board_->recorded)}; }

    ScratchDirectory scratch_;
    std::string path_;
    Board *board_ = nullptr;
};

} // namespace

/* Each round begins with a new file, so that reading it after each kill stays cheap. */
TEST_F(RecipeKill, LosesAtMostTheProgramThatIsBeingWritten)
{
    std::mt19937 random(7);
    uint64_t programs = 0;
    int kills = 0;
    while (kills < least_kills && !HasFailure()) {
        begin_round();
        std::vector<pid_t> children;
        for (int i = 0; i < kProcesses; ++i)
            children.push_back(forked_child::start([&, i] { return record(i); }));
        std::shuffle(children.begin(), children.end(), random);
        for (const pid_t child : children) {
            const uint64_t enough = total() + random() % 3;
            while (total() < enough)
                std::this_thread::yield();
            EXPECT_EQ(0, kill(child, SIGKILL));
            EXPECT_EQ(128 + SIGKILL, forked_child::wait_for(child)) << "it ended before it was killed";
            expect_sound(recorded());
            ++kills;
        }
        programs += total();
    }
    std::cout << kills << " kills, " << programs << " programs" << std::endl;
}

int main(int count, char **arguments)
{
    testing::InitGoogleTest(&count, arguments);
    if (count > 1)
        least_kills = std::max(1, std::atoi(arguments[1]));
    return RUN_ALL_TESTS();
}
