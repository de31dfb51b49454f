/*
 * child_process.h - runs a program as a user would, with its own environment, and keeps what it printed.
 */
#pragma once

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

namespace child_process
{

/* Returns the first bytes of a program, which show for which machine it is, or that it is a script. */
inline std::string kind_of_program(const std::string &path)
{
    std::string bytes(20, '\0');
    std::ifstream(path).read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return bytes;
}

/* Returns the emulator that runs this process if it must run `program`, too, and NULL otherwise. */
inline const char *emulator_of(const std::string &program)
{
    const char *emulator = std::getenv("TEST_EMULATOR");
    return emulator != nullptr && kind_of_program(program) == kind_of_program("/proc/self/exe") ? emulator : nullptr;
}

/* A child process. The constructor starts it, and its standard output and error go to a file. The child ends with the
 * thread that has started it. */
class Child
{
public:
    using Environment = std::map<std::string, std::string>;

    Child(const std::vector<std::string> &arguments, const std::string &output_path,
          const Environment &environment = {})
        : output_path_(output_path)
    {
        std::vector<char *> argv;
        std::string self;
        if (const char *emulator = emulator_of(arguments[0])) {
            self = std::filesystem::canonical(arguments[0]).string();
            argv = {const_cast<char *>(emulator), const_cast<char *>(self.c_str())};
        }
        for (const std::string &argument : arguments)
            if (self.empty() || &argument != &arguments[0])
                argv.push_back(const_cast<char *>(argument.c_str()));
        argv.push_back(nullptr);
        const std::vector<std::string> variables = variables_with(environment);
        std::vector<char *> envp;
        for (const std::string &variable : variables)
            envp.push_back(const_cast<char *>(variable.c_str()));
        envp.push_back(nullptr);
        pid_ = fork(); /* other threads may hold the locks of a sanitizer's allocator, so the child allocates nothing */
        if (pid_ != 0)
            return;
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* also if this process ends with an error, without a destructor */
        const int output = open(output_path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
        if (output < 0 || dup2(output, STDOUT_FILENO) < 0 || dup2(output, STDERR_FILENO) < 0)
            _exit(126);
        execve(argv[0], argv.data(), envp.data());
        _exit(127);
    }

    Child(const Child &) = delete;
    Child &operator=(const Child &) = delete;
    ~Child() { wait(); }

    /* Returns the exit status, 128 plus the signal's number if the child was killed, or -1 if it could not be
     * started. */
    int wait()
    {
        int status = 0;
        if (pid_ <= 0)
            return exit_status_;
        while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
        }
        pid_ = 0;
        exit_status_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        return exit_status_;
    }

    bool is_running() const
    {
        siginfo_t info = {};
        return pid_ > 0 && waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
               info.si_pid == 0;
    }

    /* Only before wait(), because the PID may belong to another process after that. */
    void send(int signal_number) const { kill(pid_, signal_number); }

    std::string output() const
    {
        std::ifstream file(output_path_);
        return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    }

private:
    /* Returns this process's environment with these variables, each as NAME=VALUE. */
    static std::vector<std::string> variables_with(const Environment &environment)
    {
        std::vector<std::string> variables;
        for (char **variable = environ; *variable != nullptr; ++variable) {
            const std::string text = *variable;
            if (environment.count(text.substr(0, text.find('='))) == 0)
                variables.push_back(text);
        }
        for (const auto &variable : environment)
            variables.push_back(variable.first + "=" + variable.second);
        return variables;
    }

    std::string output_path_;
    pid_t pid_ = 0;
    int exit_status_ = -1;
};

} // namespace child_process
