/*
 * persist_session.h - stands for one process: its context of the reference backend, the events that it received, and
 * the programs that it gets through a storage.
 */
#pragma once

#include <functional>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <ingot/persist.h>

#include "support/reference_context.h"
#include "support/store_fixture.h"

struct Seen {
    std::mutex mutex;
    std::vector<std::pair<ingot_event_kind_t, ingot_status_t>> events;

    /* Lets a storage tell its events. */
    void listen(ingot_persist_info_t *info)
    {
        info->on_event = [](const ingot_event_t *event, void *user) { static_cast<Seen *>(user)->remember(event); };
        info->on_event_user = this;
    }
    void remember(const ingot_event_t *event)
    {
        const std::lock_guard<std::mutex> guard(mutex);
        events.emplace_back(event->kind, event->status);
    }
    size_t count(ingot_event_kind_t kind, ingot_status_t status)
    {
        const std::lock_guard<std::mutex> guard(mutex);
        size_t found = 0;
        for (const auto &event : events)
            if (event.first == kind && event.second == status)
                ++found;
        return found;
    }
};

/* A process's view: its own context, and what it made there. */
struct Session : ReferenceDevice {
    explicit Session(bool has_code_at_launch = false, const char *version = "1")
    {
        generates_code_at_launch = has_code_at_launch;
        driver_version = version;
        ingot_context_info_t info = INGOT_CONTEXT_INFO_INIT;
        info.on_event = [](const ingot_event_t *event, void *user) {
            auto *self = static_cast<Session *>(user);
            self->seen.remember(event);
            if (self->on_event)
                self->on_event(*event);
        };
        info.on_event_user = this;
        context = make(info);
    }

    Desc describe(const std::string &source = "kernel twice x 2 *\n", uint32_t flags = 0,
                  const char *group = nullptr) const
    {
        ProgramText text;
        text.sources = {source};
        text.flags = flags;
        text.group = group;
        return text.make(context);
    }

    ingot_origin_t create(const Desc &desc, const HeldStorage &store, Program *kept = nullptr) const
    {
        ingot_program_t program = nullptr;
        ingot_origin_t origin = INGOT_ORIGIN_MEMORY;
        EXPECT_EQ(INGOT_SUCCESS, ingot_persist_program_create(&program, desc.get(), store.get(), &origin))
            << ingot_last_error_detail();
        Program owned(program);
        if (program != nullptr) {
            EXPECT_EQ(42, run(create_kernel(owned, "twice"), 21));
        }
        if (kept != nullptr)
            *kept = std::move(owned);
        return origin;
    }

    Seen seen;
    std::function<void(const ingot_event_t &)> on_event;
    Context context;
};

/* Requests a program through a storage, and drops it. */
inline ingot_status_t request_through(const Desc &desc, ingot_storage_t storage, ingot_origin_t *origin = nullptr)
{
    ingot_program_t program = nullptr;
    const ingot_status_t status = ingot_persist_program_create(&program, desc.get(), storage, origin);
    EXPECT_EQ(status == INGOT_SUCCESS, program != nullptr);
    ingot_program_release(program);
    return status;
}

/* Returns the origin of a program, or INGOT_ORIGIN_MEMORY if there is no program. */
inline ingot_origin_t origin_of(const Desc &desc, ingot_storage_t storage)
{
    ingot_origin_t origin = INGOT_ORIGIN_MEMORY;
    const ingot_status_t status = request_through(desc, storage, &origin);
    if (status != INGOT_SUCCESS)
        std::printf("%s: %s\n", ingot_status_name(status), ingot_last_error_detail());
    return origin;
}

inline std::string numbered_source(int number)
{
    return "kernel twice x 2 *\nkernel n" + std::to_string(number) + " x\n";
}
