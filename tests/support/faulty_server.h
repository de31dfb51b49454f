/*
 * faulty_server.h - a server on a port of the loopback interface that treats its clients as a test says.
 */
#pragma once

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "support/server_process.h"

/* One connection, which its own thread handles. Each call returns false once the client or the test has closed it. */
class FaultyConnection
{
public:
    explicit FaultyConnection(int fd) : fd_(fd) {}
    /* Waits until the client has sent something, and reads it. */
    bool read_request()
    {
        char bytes[4096];
        return recv(fd_, bytes, sizeof(bytes), 0) > 0;
    }
    /* Returns what has arrived, or "" if the connection is closed. */
    std::string read_some()
    {
        char bytes[65536];
        const ssize_t size = recv(fd_, bytes, sizeof(bytes), 0);
        return size > 0 ? std::string(bytes, static_cast<size_t>(size)) : "";
    }
    bool send_bytes(const std::string &bytes)
    {
        return send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size());
    }
    /* Waits until the client closes the connection. */
    void wait_for_end()
    {
        while (read_request()) {
        }
    }
    /* Waits for `ms` milliseconds, or until the connection is closed. */
    bool pause(int ms)
    {
        pollfd polled = {fd_, POLLRDHUP, 0};
        return poll(&polled, 1, ms) == 0;
    }

private:
    int fd_;
};

class FaultyServer
{
public:
    using Behavior = std::function<void(FaultyConnection &connection)>;

    /* `backlog` is how many connections the kernel accepts. Without a behavior, the server itself accepts none. */
    explicit FaultyServer(Behavior behavior, int backlog = 64)
        : FaultyServer(std::move(behavior), server_process::loopback(0), backlog)
    {
    }
    FaultyServer(Behavior behavior, sockaddr_in address, int backlog = 64) : behavior_(std::move(behavior))
    {
        socklen_t size = sizeof(address);
        listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (bind(listener_, reinterpret_cast<sockaddr *>(&address), size) != 0 || listen(listener_, backlog) != 0 ||
            getsockname(listener_, reinterpret_cast<sockaddr *>(&address), &size) != 0)
            throw std::runtime_error("no server");
        port_ = ntohs(address.sin_port);
        if (behavior_)
            acceptor_ = std::thread([this] { accept_all(); });
    }
    ~FaultyServer()
    {
        is_ending_ = true;
        shutdown(listener_, SHUT_RDWR);
        if (acceptor_.joinable())
            acceptor_.join();
        {
            const std::lock_guard<std::mutex> lock(mutex_);
            for (const int fd : open_)
                shutdown(fd, SHUT_RDWR);
        }
        for (std::thread &thread : threads_)
            thread.join();
        close(listener_);
    }
    uint16_t port() const { return port_; }
    std::string url(const std::string &scheme = "redis") const { return server_process::url_at(port_, scheme); }
    unsigned connection_count() const { return count_; }

private:
    void accept_all()
    {
        while (!is_ending_) {
            const int fd = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
            if (fd < 0)
                continue;
            ++count_;
            {
                const std::lock_guard<std::mutex> lock(mutex_);
                open_.insert(fd);
            }
            threads_.emplace_back([this, fd] {
                FaultyConnection connection(fd);
                behavior_(connection);
                const std::lock_guard<std::mutex> lock(mutex_);
                open_.erase(fd);
                close(fd);
            });
        }
    }

    Behavior behavior_;
    int listener_ = -1;
    uint16_t port_ = 0;
    std::atomic<bool> is_ending_{false};
    std::atomic<unsigned> count_{0};
    std::thread acceptor_;
    std::vector<std::thread> threads_;
    std::mutex mutex_;
    std::set<int> open_;
};

/* Gives each request the same answer. */
inline FaultyServer::Behavior answering(const std::string &answer)
{
    return [answer](FaultyConnection &connection) {
        while (connection.read_request() && connection.send_bytes(answer)) {
        }
    };
}
