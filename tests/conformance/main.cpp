/*
 * main.cpp - runs the conformance suite, or the part of a test that needs a separate process.
 */
#include "conformance/children.h"

int main(int argc, char **argv)
{
    int exit_status = 0;
    testing::InitGoogleTest(&argc, argv);
    if (conformance::run_as_child(argc, argv, &exit_status))
        return exit_status;
    return RUN_ALL_TESTS();
}
