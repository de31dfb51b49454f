/*
 * server_process.h - starts an installed server for one test, on a free port of the loopback interface.
 */
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/child_process.h"
#include "support/scratch_directory.h"

namespace server_process
{

/* Returns the path of a program, or "" if it is not installed. */
inline std::string find_program(const char *name)
{
    for (const char *folder : {"/usr/bin/", "/usr/sbin/", "/usr/local/bin/"})
        if (access((std::string(folder) + name).c_str(), X_OK) == 0)
            return std::string(folder) + name;
    return "";
}

inline sockaddr_in loopback(uint16_t port)
{
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(port);
    return address;
}

/* Binds a socket to a port that no process uses, and returns the socket. */
inline int bind_free_port(uint16_t *port)
{
    sockaddr_in address = loopback(0);
    socklen_t size = sizeof(address);
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (bind(fd, reinterpret_cast<sockaddr *>(&address), size) != 0 ||
        getsockname(fd, reinterpret_cast<sockaddr *>(&address), &size) != 0)
        throw std::runtime_error("no free port");
    *port = ntohs(address.sin_port);
    return fd;
}

/* Returns a port that no process uses now. */
inline uint16_t free_port()
{
    uint16_t port = 0;
    close(bind_free_port(&port));
    return port;
}

inline std::string url_at(uint16_t port, const std::string &scheme = "redis")
{
    return scheme + "://127.0.0.1:" + std::to_string(port);
}

/* Returns a port that refuses connections for as long as this process lives: its socket does not listen, and no other
 * test can get the port for a server. */
inline uint16_t closed_port()
{
    uint16_t port = 0;
    (void)bind_free_port(&port);
    return port;
}

inline std::string closed_url(const std::string &scheme = "redis")
{
    return url_at(closed_port(), scheme);
}

inline bool accepts_connections(uint16_t port)
{
    const sockaddr_in address = loopback(port);
    sockaddr_in own = {};
    socklen_t size = sizeof(own);
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    /* While nothing listens on a port, the kernel may also choose it for this socket, and connect the socket to
     * itself. */
    const bool is_connected = connect(fd, reinterpret_cast<const sockaddr *>(&address), sizeof(address)) == 0 &&
                              getsockname(fd, reinterpret_cast<sockaddr *>(&own), &size) == 0 &&
                              own.sin_port != address.sin_port;
    close(fd);
    return is_connected;
}

/* Calls `holds` again and again until it returns true, for at most three minutes. */
inline bool becomes_true(const std::function<bool()> &holds)
{
    const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(3);
    while (!holds()) {
        if (std::chrono::steady_clock::now() > end)
            return false;
        poll(nullptr, 0, 2);
    }
    return true;
}

/* A running server. It ends with the object. */
class Server
{
public:
    /* `arguments` returns the program and its arguments for a port and a folder. */
    Server(const std::function<std::vector<std::string>(uint16_t port, const std::string &folder)> &arguments)
        : arguments_(arguments), port_(free_port())
    {
        start();
    }
    ~Server() { stop(); }

    uint16_t port() const { return port_; }
    pid_t pid() const { return pid_; }
    std::string folder() const { return scratch_.path().native(); }

    void start()
    {
        const std::vector<std::string> arguments = arguments_(port_, folder());
        std::vector<char *> argv;
        for (const std::string &argument : arguments)
            argv.push_back(const_cast<char *>(argument.c_str()));
        argv.push_back(nullptr);
        const std::string log = folder() + "/output";
        pid_ = fork();
        if (pid_ == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL); /* kills the server if the test is killed, or if this thread ends */
            const int output = open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
            if (output < 0 || dup2(output, STDOUT_FILENO) < 0 || dup2(output, STDERR_FILENO) < 0)
                _exit(126);
            execv(argv[0], argv.data());
            _exit(127);
        }
        if (!becomes_true([this] { return accepts_connections(port_); }))
            throw std::runtime_error(arguments[0] + " does not accept connections");
    }
    void stop()
    {
        if (pid_ <= 0)
            return;
        kill(pid_, SIGKILL);
        while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
        }
        pid_ = -1;
    }
    /* Stops the server with SIGSTOP. The kernel still accepts connections, but nothing answers. */
    void pause() { kill(pid_, SIGSTOP); }
    void resume() { kill(pid_, SIGCONT); }

private:
    std::function<std::vector<std::string>(uint16_t, const std::string &)> arguments_;
    ScratchDirectory scratch_;
    uint16_t port_;
    pid_t pid_ = -1;
};

/* A Redis server that keeps its data only in memory. */
class Redis : public Server
{
public:
    explicit Redis(const std::vector<std::string> &options = {}) : Redis([options](uint16_t) { return options; }) {}
    /* `more` returns options for a port, which replace those below. */
    explicit Redis(const std::function<std::vector<std::string>(uint16_t port)> &more)
        : Server([more](uint16_t port, const std::string &folder) {
              std::vector<std::string> arguments = {
                  find_program("redis-server"), "--bind", "127.0.0.1",          "--dir",  folder, "--unixsocket",
                  folder + "/socket",           "--port", std::to_string(port), "--save", ""};
              const std::vector<std::string> options = more(port);
              arguments.insert(arguments.end(), options.begin(), options.end());
              return arguments;
          })
    {
    }
    std::string url(const std::string &rest = "") const { return url_at(port()) + rest; }
    /* Returns what redis-cli prints. */
    std::string ask(const std::vector<std::string> &words) const
    {
        std::vector<std::string> arguments = {find_program("redis-cli"), "-p", std::to_string(port())};
        arguments.insert(arguments.end(), words.begin(), words.end());
        child_process::Child child(arguments, folder() + "/answer");
        child.wait();
        return child.output();
    }
};

/* nginx, which keeps what clients PUT below folder()/data. `more` has lines for the server's block. */
class Nginx : public Server
{
public:
    explicit Nginx(const std::string &more = "", const std::string &listen = "")
        : Server([more, listen](uint16_t port, const std::string &folder) {
              std::filesystem::create_directories(folder + "/data");
              std::ofstream file(folder + "/nginx.conf");
              if (geteuid() == 0)
                  file << "user root;\n";
              file << "daemon off;\nmaster_process off;\npid " << folder << "/pid;\nerror_log " << folder
                   << "/error.log;\nevents {}\nhttp {\n  access_log off;\n  client_body_temp_path " << folder
                   << "/body;\n  proxy_temp_path " << folder << "/proxy;\n  fastcgi_temp_path " << folder
                   << "/fastcgi;\n  uwsgi_temp_path " << folder << "/uwsgi;\n  scgi_temp_path " << folder
                   << "/scgi;\n  client_max_body_size 100m;\n  server {\n    listen 127.0.0.1:" << port << listen
                   << ";\n    root " << folder
                   << "/data;\n    dav_methods PUT DELETE;\n    create_full_put_path on;\n    " << more << "\n  }\n}\n";
              return std::vector<std::string>{find_program("nginx"), "-c", folder + "/nginx.conf", "-p", folder, "-e",
                                              folder + "/error.log"};
          })
    {
    }
    std::string url(const std::string &rest = "", const char *scheme = "http") const
    {
        return url_at(port(), scheme) + rest;
    }
    /* Returns the paths of all objects, relative to the data folder. */
    std::vector<std::string> files() const
    {
        std::vector<std::string> found;
        for (const auto &item : std::filesystem::recursive_directory_iterator(folder() + "/data"))
            if (item.is_regular_file())
                found.push_back(std::filesystem::relative(item.path(), folder() + "/data").native());
        return found;
    }
};

} // namespace server_process
