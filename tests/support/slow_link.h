/*
 * slow_link.h - a link between two network namespaces that loses packets, delays them, or carries few bytes per second.
 *
 * Each end is a TUN interface, and a process carries the packets from one to the other. The kernel's netem does the
 * same, but many kernels are built without it.
 */
#pragma once

#include <linux/if.h>
#include <linux/if_tun.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <deque>
#include <random>

#include "support/forked_child.h"
#include "support/network.h"

namespace network
{

class SlowLink
{
public:
    /* The quality of the link in both directions. For each field, 0 is the best. */
    struct Quality {
        uint32_t loss_percent = 0;
        uint32_t delay_ms = 0;
        uint32_t bits_per_ms = 0;
        uint64_t cut_after = 0; /* if not 0: after this many bytes from the server, all is lost */
    };

    /* Joins eth0 of the machine with eth0 of the server. */
    SlowLink(const Namespace &server, const Namespace &machine)
        : server_end_(open_end(server, kServerAddress)), machine_end_(open_end(machine, "10.77.0.10"))
    {
        carrier_ = forked_child::start([this] {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            carry();
            return 0;
        });
    }
    ~SlowLink()
    {
        kill(carrier_, SIGKILL);
        (void)forked_child::wait_for(carrier_);
    }

    /* Changes the quality. Packets that are on the way arrive immediately. */
    void set(const Quality &quality) const
    {
        state_->loss_percent = quality.loss_percent;
        state_->delay_ms = quality.delay_ms;
        state_->bits_per_ms = quality.bits_per_ms;
        state_->left_before_cut = quality.cut_after != 0 ? quality.cut_after : UINT64_MAX;
        state_->is_cut = false;
        ++state_->changes;
    }
    bool is_cut() const { return state_->is_cut; }

private:
    using Clock = std::chrono::steady_clock;
    static constexpr size_t kMostBytesWaiting = 64 * 1024; /* in one direction; more is dropped, as by a router */
    static constexpr int kPollMs = 20;

    struct State {
        std::atomic<uint32_t> loss_percent{0}, delay_ms{0}, bits_per_ms{0}, changes{0};
        std::atomic<uint64_t> left_before_cut{UINT64_MAX};
        std::atomic<bool> is_cut{false};
    };
    struct Packet {
        std::string bytes;
        Clock::time_point due;
    };
    struct Direction {
        int from, to;
        bool is_from_server;
        std::deque<Packet> waiting{};
        size_t waiting_bytes = 0;
        Clock::time_point is_free_at{}; /* when the line can take the next packet */
    };

    static int open_end(const Namespace &space, const std::string &address)
    {
        const Within here(space);
        ifreq request = {};
        request.ifr_flags = IFF_TUN | IFF_NO_PI;
        std::strcpy(request.ifr_name, "eth0");
        const int fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
        if (fd < 0 || ioctl(fd, TUNSETIFF, &request) != 0)
            throw failure("/dev/net/tun");
        space.ip({"address", "add", address + "/24", "dev", "eth0"});
        space.ip({"link", "set", "eth0", "up"});
        return fd;
    }

    bool is_lost(const Direction &direction, size_t size)
    {
        if (state_->is_cut)
            return true;
        if (direction.is_from_server && state_->left_before_cut != UINT64_MAX) {
            if (state_->left_before_cut < size) {
                state_->is_cut = true;
                return true;
            }
            state_->left_before_cut -= size;
        }
        return random_() % 100 < state_->loss_percent || direction.waiting_bytes + size > kMostBytesWaiting;
    }
    void receive(Direction &direction)
    {
        char bytes[65536];
        ssize_t size = 0;
        while ((size = read(direction.from, bytes, sizeof(bytes))) > 0) {
            const auto now = Clock::now();
            if (is_lost(direction, static_cast<size_t>(size)))
                continue;
            direction.is_free_at = std::max(direction.is_free_at, now);
            if (state_->bits_per_ms != 0)
                direction.is_free_at += std::chrono::microseconds(size * 8000 / state_->bits_per_ms);
            direction.waiting.push_back({std::string(bytes, static_cast<size_t>(size)),
                                         direction.is_free_at + std::chrono::milliseconds(state_->delay_ms)});
            direction.waiting_bytes += static_cast<size_t>(size);
        }
    }
    static void deliver(Direction &direction, Clock::time_point moment)
    {
        while (!direction.waiting.empty() && direction.waiting.front().due <= moment) {
            const std::string &bytes = direction.waiting.front().bytes;
            if (write(direction.to, bytes.data(), bytes.size()) < 0) {
                /* The interface is down, so the packet is lost. */
            }
            direction.waiting_bytes -= bytes.size();
            direction.waiting.pop_front();
        }
    }
    static int wait_ms(const Direction &direction)
    {
        if (direction.waiting.empty())
            return kPollMs;
        const auto left = direction.waiting.front().due - Clock::now();
        const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(left).count() + 1;
        return static_cast<int>(std::clamp<long long>(ms, 0, kPollMs));
    }
    void carry()
    {
        Direction directions[] = {{server_end_.get(), machine_end_.get(), true},
                                  {machine_end_.get(), server_end_.get(), false}};
        uint32_t changes = 0;
        for (;;) {
            pollfd polled[] = {{directions[0].from, POLLIN, 0}, {directions[1].from, POLLIN, 0}};
            (void)poll(polled, 2, std::min(wait_ms(directions[0]), wait_ms(directions[1])));
            const bool is_changed = changes != state_->changes;
            changes = state_->changes;
            for (Direction &direction : directions) {
                if (is_changed)
                    direction.is_free_at = Clock::now();
                deliver(direction, is_changed ? Clock::time_point::max() : Clock::now());
                receive(direction);
                deliver(direction, Clock::now());
            }
        }
    }

    Descriptor server_end_, machine_end_;
    const forked_child::Shared<State> state_;
    pid_t carrier_ = -1;
    std::mt19937 random_{1};
};

/* Returns why such a link cannot be made here, or "". */
inline std::string why_no_slow_link()
{
    const std::string reason = why_unavailable();
    if (!reason.empty())
        return reason;
    try {
        const Namespace server, machine;
        const SlowLink tried(server, machine);
    } catch (const std::exception &error) {
        return std::string("this system allows no TUN interfaces: ") + error.what();
    }
    return "";
}

} // namespace network
