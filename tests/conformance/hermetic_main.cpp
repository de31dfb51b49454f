/* hermetic_main.cpp - runs the tests of hermetic builds, or one build that needs a separate process. */
#include <gtest/gtest.h>

#include "conformance/program_setup.h"

int main(int argc, char **argv)
{
    int exit_status = 0;
    testing::InitGoogleTest(&argc, argv);
    if (conformance::run_setup_as_child(argc, argv, &exit_status))
        return exit_status;
    return RUN_ALL_TESTS();
}
