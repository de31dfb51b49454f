/*
 * other_build.cpp - stands for an application that is linked with another build of Ingot: the library's sources with
 * another revision. other_build ROOT gets a program through the store at ROOT, and prints its library's version and
 * where the program came from.
 */
#include <cstdio>

#include "support/persist_session.h"

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    ingot_persist_info_t info = INGOT_PERSIST_INFO_INIT;
    info.path = argv[1];
    const store_fixture::Store store(info);
    const Session session;
    const ingot_origin_t origin = session.create(session.describe(), store);
    std::printf("%s %s\n", ingot_version(), ingot_origin_name(origin));
    return testing::UnitTest::GetInstance()->Failed() ? 1 : 0;
}
