/*
 * child_items.cpp - works on numbered items in child processes; see child_items.h. A child writes lines of the form KEY
 * HEX to a pipe; HEX is the value in hexadecimal. The key "begin" begins an item, and "end" ends it.
 */
#include "hermetic/child_items.h"

#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <sys/wait.h>
#include <unistd.h>

namespace hermetic
{

namespace
{

std::string hex_of(const std::string &bytes)
{
    static const char digits[] = "0123456789abcdef";
    std::string text;
    for (const char c : bytes) {
        const unsigned char byte = static_cast<unsigned char>(c);
        text += digits[byte >> 4];
        text += digits[byte & 15];
    }
    return text;
}

int value_of(char digit)
{
    return digit <= '9' ? digit - '0' : digit - 'a' + 10;
}

std::string bytes_of(const std::string &hex)
{
    std::string bytes;
    for (size_t i = 0; i + 1 < hex.size(); i += 2)
        bytes += static_cast<char>(value_of(hex[i]) * 16 + value_of(hex[i + 1]));
    return bytes;
}

bool is_over(const ItemRange &range)
{
    return range.deadline != 0 && std::time(nullptr) >= range.deadline;
}

[[noreturn]] void run_child(const ItemRange &range, size_t first, const Work &work, int out_descriptor)
{
    std::FILE *out = fdopen(out_descriptor, "w");
    ItemWriter writer(out);
    for (size_t i = first; i < range.end && i < first + range.per_child && !is_over(range); ++i) {
        writer.say("begin", std::to_string(i));
        try {
            work(i, writer);
        } catch (const std::exception &problem) {
            writer.say("problem", problem.what());
        }
        writer.say("end", "");
    }
    (void)std::fclose(out);
    _exit(0); /* drivers may crash in their own exit handlers */
}

std::string ending_of(int status)
{
    if (WIFSIGNALED(status))
        return std::string("signal ") + strsignal(WTERMSIG(status));
    return "exit " + std::to_string(WEXITSTATUS(status));
}

/* Reads what one child reports. Returns the number of items that it began. If the child began an item and did not end
 * it, `open` gets the findings of that item. */
size_t read_child(std::FILE *in, const std::function<void(const Findings &)> &take, Findings *open)
{
    char *line = nullptr;
    size_t room = 0;
    size_t begun = 0;
    ssize_t length;
    while ((length = getline(&line, &room, in)) > 0) {
        std::string text(line, static_cast<size_t>(length));
        const size_t blank = text.find(' ');
        if (text.back() != '\n' || blank == std::string::npos)
            break; /* the child ended in the middle of a line */
        text.pop_back();
        const std::string key = text.substr(0, blank);
        if (key == "begin") {
            open->clear();
            ++begun;
        }
        (*open)[key] = bytes_of(text.substr(blank + 1));
        if (key == "end") {
            take(*open);
            open->clear();
        }
    }
    std::free(line);
    return begun;
}

} // namespace

void ItemWriter::say(const std::string &key, const std::string &value)
{
    (void)std::fprintf(out_, "%s %s\n", key.c_str(), hex_of(value).c_str());
    (void)std::fflush(out_);
}

size_t work_in_children(const ItemRange &range, const Work &work, const Take &take)
{
    size_t next = range.first;
    while (next < range.end && !is_over(range)) {
        int ends[2];
        if (pipe(ends) != 0)
            throw std::runtime_error("pipe");
        (void)std::fflush(nullptr);
        const pid_t child = fork();
        if (child < 0)
            throw std::runtime_error("fork");
        if (child == 0) {
            close(ends[0]);
            run_child(range, next, work, ends[1]);
        }
        close(ends[1]);
        std::FILE *in = fdopen(ends[0], "r");
        Findings open;
        size_t taken = next;
        const size_t begun = read_child(
            in, [&](const Findings &findings) { take(taken++, findings); }, &open);
        (void)std::fclose(in);
        int status = 0;
        (void)waitpid(child, &status, 0);
        if (!open.empty()) {
            open["crash"] = ending_of(status);
            take(taken, open);
        } else if (status != 0) {
            throw std::runtime_error("a child ended between two items: " + ending_of(status));
        }
        next += begun;
    }
    return next - range.first;
}

} // namespace hermetic
