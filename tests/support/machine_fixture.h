/*
 * machine_fixture.h - a machine of a fleet: its own directory store in front of a server that all machines share.
 */
#pragma once

#include <string>

#include "support/persist_session.h"
#include "support/remote_fixture.h"
#include "support/scratch_directory.h"
#include "support/storage_settings.h"

namespace machine_fixture
{

/* The storages that one process of a machine has open. */
class Machine
{
public:
    Machine(const std::string &folder, const std::string &url, ingot_persist_info_t info,
            const ingot_remote_info_t &remote_info = remote_fixture::patient())
        : tier_(url, remote_info), path_(folder)
    {
        info.path = path_.c_str();
        info.lock_timeout_ms = 60000;
        EXPECT_EQ(INGOT_SUCCESS, tier_.status()) << ingot_last_error_detail();
        EXPECT_EQ(INGOT_SUCCESS, ingot_persist_open(&directory_, &info)) << ingot_last_error_detail();
        EXPECT_EQ(INGOT_SUCCESS, set_setting(tier_.get(), &ingot_persist_settings_t::write_through, 1));
        const ingot_storage_t tiers[] = {directory_, tier_.get()};
        EXPECT_EQ(INGOT_SUCCESS, ingot_persist_chain(&chain_, 2, tiers));
    }
    Machine(const Machine &) = delete;
    Machine &operator=(const Machine &) = delete;
    ~Machine()
    {
        ingot_storage_release(chain_);
        ingot_storage_release(directory_);
    }

    /* Returns the origin of a program, or INGOT_ORIGIN_MEMORY if there is no program. */
    ingot_origin_t request(Session &session, const std::string &source) const
    {
        const Desc desc = session.describe(source);
        ingot_program_t program = nullptr;
        ingot_origin_t origin = INGOT_ORIGIN_MEMORY;
        (void)ingot_persist_program_create(&program, desc.get(), chain_, &origin);
        ingot_program_release(program);
        return origin;
    }
    ingot_persist_stats_t stats() const
    {
        ingot_persist_stats_t stats = INGOT_PERSIST_STATS_INIT;
        EXPECT_EQ(INGOT_SUCCESS, ingot_persist_get_stats(chain_, &stats));
        return stats;
    }
    const remote_fixture::Tier &tier() const { return tier_; }

private:
    remote_fixture::Tier tier_;
    std::string path_;
    ingot_storage_t directory_ = nullptr;
    ingot_storage_t chain_ = nullptr;
};

} // namespace machine_fixture
