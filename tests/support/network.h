/*
 * network.h - simulates machines with network namespaces, which a bridge joins with a server's namespace.
 *
 * No namespace has a name. It lasts as long as a descriptor or a process uses it, so nothing is left behind, even if a
 * test is killed, and tests that run at once do not affect each other. Creating one needs root.
 */
#pragma once

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/child_process.h"
#include "support/not_copied.h"
#include "support/scratch_directory.h"
#include "support/server_process.h"

namespace network
{

const std::string kServerAddress = "10.77.0.1";

inline std::runtime_error failure(const std::string &what)
{
    return std::runtime_error(what + ": " + std::strerror(errno));
}

/* A descriptor that is closed with the object. */
class Descriptor : NotCopied
{
public:
    explicit Descriptor(int fd) : fd_(fd) {}
    ~Descriptor()
    {
        if (fd_ >= 0)
            close(fd_);
    }
    int get() const { return fd_; }

private:
    int fd_;
};

inline int open_own_namespace()
{
    const int fd = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        throw failure("/proc/thread-self/ns/net");
    return fd;
}

class Namespace
{
public:
    /* Makes a namespace that has only the loopback interface. */
    Namespace() : fd_(make()) { ip({"link", "set", "lo", "up"}); }
    int get() const { return fd_.get(); }
    /* Returns a path that the command ip takes in place of a name. */
    std::string path() const { return "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(get()); }
    /* Runs the command ip in the namespace. */
    void ip(std::vector<std::string> arguments) const;

private:
    static int make()
    {
        const Descriptor before(open_own_namespace());
        if (unshare(CLONE_NEWNET) != 0)
            throw failure("a new network namespace");
        const int made = open_own_namespace();
        if (setns(before.get(), CLONE_NEWNET) != 0)
            throw failure("the namespace before");
        return made;
    }

    Descriptor fd_;
};

/* While this object lives, the calling thread works in a namespace, and so do the threads and processes that it
 * starts. */
class Within
{
public:
    explicit Within(const Namespace &space) : before_(open_own_namespace())
    {
        if (setns(space.get(), CLONE_NEWNET) != 0)
            throw failure("entering a network namespace");
    }
    ~Within() { (void)setns(before_.get(), CLONE_NEWNET); }

private:
    Descriptor before_;
};

inline void Namespace::ip(std::vector<std::string> arguments) const
{
    const ScratchDirectory scratch;
    const Within here(*this);
    arguments.insert(arguments.begin(), server_process::find_program("ip"));
    child_process::Child child(arguments, scratch.path() / "output");
    if (child.wait() != 0)
        throw std::runtime_error("ip " + arguments[1] + " " + arguments[2] + ": " + child.output());
}

/* The server's namespace and the machines' namespaces, joined by a bridge. */
class Network
{
public:
    explicit Network(int machine_count)
    {
        server_.ip({"link", "add", "bridge", "type", "bridge"});
        server_.ip({"address", "add", kServerAddress + "/24", "dev", "bridge"});
        server_.ip({"link", "set", "bridge", "up"});
        for (int i = 0; i < machine_count; ++i)
            add_machine(i);
    }
    const Namespace &server() const { return server_; }
    const Namespace &machine(int i) const { return *machines_[static_cast<size_t>(i)]; }
    void cut_off(int i) const { machine(i).ip({"link", "set", "eth0", "down"}); }
    void connect(int i) const { machine(i).ip({"link", "set", "eth0", "up"}); }

private:
    void add_machine(int i)
    {
        machines_.push_back(std::make_unique<Namespace>());
        const Namespace &added = *machines_.back();
        const std::string port = "port" + std::to_string(i);
        added.ip({"link", "add", "eth0", "type", "veth", "peer", "name", port, "netns", server_.path()});
        server_.ip({"link", "set", port, "master", "bridge", "up"});
        added.ip({"address", "add", "10.77.0." + std::to_string(10 + i) + "/24", "dev", "eth0"});
        added.ip({"link", "set", "eth0", "up"});
    }

    Namespace server_;
    std::vector<std::unique_ptr<Namespace>> machines_;
};

/* Redis in the server's namespace. It keeps its content when it is killed. */
class Redis
{
public:
    explicit Redis(const Namespace &space)
    {
        const Within here(space);
        server_ = std::make_unique<server_process::Redis>(std::vector<std::string>{
            "--bind", "0.0.0.0", "--protected-mode", "no", "--appendonly", "yes", "--appendfsync", "no"});
    }
    std::string url() const { return "redis://" + kServerAddress + ":" + std::to_string(server_->port()); }
    server_process::Redis &process() const { return *server_; }

private:
    std::unique_ptr<server_process::Redis> server_;
};

/* nginx in the server's namespace, where no other process uses port 80. */
class Nginx
{
public:
    explicit Nginx(const Namespace &space)
    {
        const Within here(space);
        server_ = std::make_unique<server_process::Nginx>("listen " + kServerAddress + ":80;");
    }
    std::string url() const { return "http://" + kServerAddress; }
    server_process::Nginx &process() const { return *server_; }

private:
    std::unique_ptr<server_process::Nginx> server_;
};

/* Returns why such a network cannot be made here, or "". */
inline std::string why_unavailable()
{
    if (geteuid() != 0)
        return "only root can create network namespaces";
    try {
        const Network tried(1);
    } catch (const std::exception &error) {
        return std::string("this system allows no network of namespaces: ") + error.what();
    }
    return "";
}

} // namespace network
