/*
 * Tests that builds of Ingot with different revisions use each other's stores.
 */
#include <cstdio>
#include <cstring>

#include "support/persist_session.h"

namespace
{

class PersistOtherBuild : public testing::Test
{
protected:
    /* Runs the other build on the store. Returns where its program came from. */
    std::string origin_in_other_build()
    {
        const std::string command = std::string(OTHER_BUILD) + " '" + root_ + "'";
        const std::unique_ptr<FILE, int (*)(FILE *)> output(popen(command.c_str(), "r"), pclose);
        char version[128] = "";
        char origin[32] = "";
        EXPECT_EQ(2, std::fscanf(output.get(), "%127s %31s", version, origin));
        EXPECT_NE(nullptr, std::strstr(version, "+another")) << version;
        EXPECT_STRNE(ingot_version(), version);
        return origin;
    }
    ingot_origin_t origin_here()
    {
        ingot_persist_info_t info = INGOT_PERSIST_INFO_INIT;
        info.path = root_.c_str();
        const store_fixture::Store store(info);
        const Session session;
        return session.create(session.describe(), store);
    }

    ScratchDirectory scratch_;
    std::string root_ = (scratch_.path() / "store").string();
};

} // namespace

TEST_F(PersistOtherBuild, LoadsWhatThisBuildStored)
{
    EXPECT_EQ(INGOT_ORIGIN_BUILD, origin_here());
    EXPECT_EQ("storage", origin_in_other_build());
}

TEST_F(PersistOtherBuild, StoresWhatThisBuildLoads)
{
    EXPECT_EQ("build", origin_in_other_build());
    EXPECT_EQ(INGOT_ORIGIN_STORAGE, origin_here());
}
