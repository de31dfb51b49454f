/*
 * tool.h - runs the tool as a user would, on stores made through the public interface with real programs.
 */
#pragma once

#include "support/child_process.h"
#include "support/persist_session.h"

namespace fs = std::filesystem;

struct Result {
    int code;
    std::string output; /* standard output and standard error, in the order in which a terminal shows them */

    Result(int code_in, std::string output_in) : code(code_in), output(std::move(output_in)) {}
    /* For EXPECT_TRUE. A failure shows the output. */
    ::testing::AssertionResult says(const std::string &text) const
    {
        return output.find(text) != std::string::npos ? ::testing::AssertionSuccess() : failure() << text;
    }
    ::testing::AssertionResult begins(const std::string &text) const
    {
        return output.find(text) == 0 ? ::testing::AssertionSuccess() : failure() << text;
    }
    ::testing::AssertionResult begins(int expected, const std::string &text) const
    {
        return code == expected && begins(text) ? ::testing::AssertionSuccess() : failure() << expected << ": " << text;
    }
    ::testing::AssertionResult is(int expected, const std::string &text = "") const
    {
        return code == expected && says(text) ? ::testing::AssertionSuccess() : failure() << expected << ": " << text;
    }

private:
    ::testing::AssertionResult failure() const
    {
        return ::testing::AssertionFailure() << "exit status " << code << "\n" << output << "\ninstead of ";
    }
};

/* A scratch directory with a store in it, and the tool. */
class CliTest : public ::testing::Test
{
protected:
    std::vector<std::string> command_of(const std::vector<std::string> &arguments) const
    {
        std::vector<std::string> command{CLI_PROGRAM};
        command.insert(command.end(), arguments.begin(), arguments.end());
        if (!command.empty() && arguments.size() != 0 && arguments[0][0] != '-') {
            command.push_back("--dir");
            command.push_back(root().string());
        }
        return command;
    }
    /* Runs the tool with --dir of the store. */
    Result run(const std::vector<std::string> &arguments) const { return run_command(command_of(arguments)); }
    Result run_command(const std::vector<std::string> &command,
                       const std::map<std::string, std::string> &environment = {}) const
    {
        child_process::Child child(command, (scratch_.path() / "output").string(), environment);
        const int code = child.wait();
        return Result(code, child.output());
    }
    /* Runs the tool without --dir. */
    Result tool(std::vector<std::string> arguments, const std::map<std::string, std::string> &environment = {}) const
    {
        arguments.insert(arguments.begin(), CLI_PROGRAM);
        return run_command(arguments, environment);
    }
    /* Does the same, sends the tool a signal when it has printed a text and the store has so many entries, and waits
     * for the end of all its processes, which alone have the writing end of a pipe. The pipe is too small for what long
     * work prints. */
    Result tool_with_signal(std::vector<std::string> arguments, int signal_number, const std::string &text,
                            size_t entry_count, const std::map<std::string, std::string> &environment = {}) const
    {
        int ends[2];
        char buffer[512];
        std::string output;
        EXPECT_EQ(0, pipe(ends));
        EXPECT_EQ(0, fcntl(ends[0], F_SETFD, FD_CLOEXEC));
        EXPECT_LE(0, fcntl(ends[0], F_SETPIPE_SZ, 4096));
        std::signal(SIGINT, SIG_DFL); /* the tests may have been started with SIGINT ignored */
        arguments.insert(arguments.begin(), CLI_PROGRAM);
        child_process::Child child(arguments, "/proc/self/fd/" + std::to_string(ends[1]), environment);
        close(ends[1]);
        while (output.find(text) == std::string::npos && read(ends[0], buffer, 1) == 1)
            output += buffer[0];
        for (int i = 0; i < 30000 && (!fs::exists(root()) || (entry_count != 0 && names().size() < entry_count));
             ++i) /* names() reads a store from which nothing vanishes meanwhile */
            usleep(10000);
        child.send(signal_number);
        for (ssize_t size = 0; (size = read(ends[0], buffer, sizeof(buffer))) > 0;)
            output.append(buffer, static_cast<size_t>(size));
        close(ends[0]);
        return Result(child.wait(), output);
    }
    /* Runs a shell command, for which $INGOT is the tool, $STORE is the store, and $PARSE is `parse`. */
    Result run_shell(const std::string &command, const std::string &parse = "") const
    {
        return run_command({"/bin/bash", "-c", command},
                           {{"INGOT", CLI_PROGRAM}, {"STORE", root().string()}, {"PARSE", parse}});
    }
    /* Returns the value of a Python expression, in which j is what the tool prints with --json. */
    std::string json(const std::string &arguments, const std::string &expression) const
    {
        return json_without_store(arguments + " --dir $STORE", expression);
    }
    std::string json_without_store(const std::string &arguments, const std::string &expression) const
    {
        const std::string parse = "import json,sys; j = json.load(sys.stdin); print(" + expression + ")";
        const Result result = run_shell("$INGOT " + arguments + " --json 2>/dev/null | python3 -c \"$PARSE\"", parse);
        return result.code == 0 ? result.output.substr(0, result.output.find_last_not_of('\n') + 1)
                                : "failed: " + result.output;
    }

    fs::path root() const { return scratch_.path() / "store"; }
    const fs::path &scratch() const { return scratch_.path(); }

    store_fixture::Store open_store(const char *name_space = nullptr) const
    {
        info_ = INGOT_PERSIST_INFO_INIT;
        root_text_ = root().string();
        info_.path = root_text_.c_str();
        info_.name_space = name_space;
        info_.lock_timeout_ms = 60000;
        return store_fixture::Store(info_);
    }
    /* Builds a program on a device and stores it. Returns its id. */
    std::vector<uint8_t> add_program(const char *target, const char *driver, const ProgramText &text,
                                     const char *name_space = nullptr) const
    {
        ReferenceDevice device;
        device.targets = {target};
        device.driver_version = driver;
        const Context context = device.make();
        const Desc desc = text.make(context);
        const store_fixture::Store store = open_store(name_space);
        EXPECT_EQ(INGOT_SUCCESS, request_through(desc, store.get()));
        EXPECT_EQ(INGOT_SUCCESS, ingot_persist_flush(store.get(), nullptr, nullptr));
        return id_of(desc);
    }
    /* Returns the names of all entries: their paths below the store. */
    std::vector<std::string> names() const { return names_below(root()); }
    static std::vector<std::string> names_below(const fs::path &store)
    {
        std::vector<std::string> names;
        for (const fs::path &entry : store_fixture::entries_of(store))
            names.push_back(fs::relative(entry, store).string());
        return names;
    }
    /* Flips a bit in the middle of a file. */
    static void damage(const fs::path &path)
    {
        auto bytes = store_fixture::read_file(path);
        ASSERT_FALSE(bytes.empty()) << path;
        bytes[bytes.size() / 2] ^= 1;
        store_fixture::write_file(path, bytes);
    }
    /* Adds entries that are not programs. */
    void add_plain(unsigned count, size_t blob_size = 100) const
    {
        const store_fixture::Store store = open_store();
        for (unsigned i = 0; i < count; ++i)
            ASSERT_EQ(INGOT_SUCCESS,
                      store.put(store_fixture::bytes_of("plain " + std::to_string(i)), random_bytes(i, blob_size)));
    }

private:
    store_fixture::ScratchDirectory scratch_;
    mutable ingot_persist_info_t info_ = INGOT_PERSIST_INFO_INIT;
    mutable std::string root_text_;
};
