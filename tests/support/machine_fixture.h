/*
 * machine_fixture.h - a machine of a fleet: its own directory store in front of a server that all machines share.
 */
#pragma once

#include <string>

#include "support/persist_session.h"
#include "support/remote_fixture.h"
#include "support/scratch_directory.h"

namespace machine_fixture
{

/* The storages that one process of a machine has open. */
class Machine
{
public:
    Machine(const std::string &folder, const std::string &url, const ingot_persist_info_t &info,
            const ingot_remote_info_t &remote_info = remote_fixture::patient())
        : tier_(url, remote_info), directory_(open(folder, info)), chain_(join(directory_, tier_))
    {
    }

    /* Returns the origin of a program, or INGOT_ORIGIN_MEMORY if there is no program. */
    ingot_origin_t request(Session &session, const std::string &source) const
    {
        return origin_of(session.describe(source), chain_.get());
    }
    ingot_persist_stats_t stats() const { return chain_.stats(); }
    const remote_fixture::Tier &tier() const { return tier_; }

private:
    static HeldStorage open(const std::string &folder, ingot_persist_info_t info)
    {
        info.path = folder.c_str();
        info.lock_timeout_ms = 60000;
        return opened([&](ingot_storage_t *made) { return ingot_persist_open(made, &info); });
    }

    static HeldStorage join(const HeldStorage &directory, const remote_fixture::Tier &tier)
    {
        EXPECT_EQ(INGOT_SUCCESS, tier.status()) << ingot_last_error_detail();
        EXPECT_EQ(INGOT_SUCCESS, set_setting(tier.get(), &ingot_persist_settings_t::write_through, 1));
        return chain_of({directory.get(), tier.get()});
    }

    const remote_fixture::Tier tier_;
    const HeldStorage directory_, chain_;
};

} // namespace machine_fixture
