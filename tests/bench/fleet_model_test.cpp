/*
 * fleet_model_test.cpp - tests what must hold in every simulated fleet, whatever its parameters are.
 */
#include <gtest/gtest.h>

#include "bench/fleet_model.h"

namespace
{

using fleet::independent;
using fleet::Model;
using fleet::Outcome;
using fleet::pulled;
using fleet::simulate;

Model small()
{
    Model model;
    model.nodes = 20;
    model.programs = 30;
    return model;
}

TEST(FleetModel, GivesTheSameResultForTheSameSeed)
{
    Model model = small();
    model.crash_probability = 0.05;
    const Outcome one = simulate(model), other = simulate(model);
    EXPECT_EQ(one.compilations, other.compilations);
    EXPECT_EQ(one.requests, other.requests);
    EXPECT_EQ(one.ready_s, other.ready_s);
    model.seed = 2;
    EXPECT_NE(one.ready_s, simulate(model).ready_s);
}

TEST(FleetModel, CompilesEachProgramOnceWithLeases)
{
    for (const bool has_own_order : {false, true}) {
        Model model = small();
        model.has_own_order = has_own_order;
        EXPECT_EQ(model.programs, simulate(model).compilations);
    }
}

TEST(FleetModel, CompilesMoreWithoutLeasesButNeverMoreThanIndependentMachines)
{
    Model model = small();
    model.has_leases = false;
    const Outcome outcome = simulate(model);
    EXPECT_GT(outcome.compilations, model.programs);
    EXPECT_LE(outcome.compilations, independent(model).compilations);
}

TEST(FleetModel, IsFasterThanIndependentMachinesWhenEachMachineBeginsElsewhere)
{
    Model model = small();
    model.has_own_order = true;
    EXPECT_LT(simulate(model).ready_s, independent(model).ready_s / 2);
}

TEST(FleetModel, CompilesNothingIfTheServerIsPrewarmed)
{
    Model model = small();
    model.is_prewarmed = true;
    const Outcome outcome = simulate(model);
    EXPECT_EQ(0u, outcome.compilations);
    EXPECT_EQ(uint64_t{model.nodes} * model.programs, outcome.requests);
    EXPECT_DOUBLE_EQ(static_cast<double>(outcome.requests) * model.blob_bytes, outcome.bytes);
}

TEST(FleetModel, AsksNothingIfEachMachineHasEverything)
{
    Model model = small();
    model.is_prewarmed = model.is_warm = true;
    EXPECT_EQ(0u, simulate(model).requests);
    model.has_local_stores = false;
    EXPECT_EQ(uint64_t{model.nodes} * model.programs, simulate(model).requests);
}

TEST(FleetModel, APullCompilesNothingAndAsksOnlyForRanges)
{
    Model model = small();
    model.range_bytes = 4 * model.blob_bytes; /* so 8 ranges, besides the manifest and the index */
    const Outcome outcome = pulled(model);
    EXPECT_EQ(0u, outcome.compilations);
    EXPECT_EQ(uint64_t{model.nodes} * 10, outcome.requests);
    EXPECT_DOUBLE_EQ(model.nodes * model.programs * (model.blob_bytes + 96), outcome.bytes);
    EXPECT_EQ(outcome.ready_s, pulled(model).ready_s);
}

TEST(FleetModel, APullTakesAsLongAsTheSlowestOfNetworkRegistryAndMachine)
{
    Model model = small();
    model.start_spread_s = 0;
    model.registry_request_s = model.store_s = model.round_trip_s = 0;
    model.registry_bytes_per_s = 1e12;
    const double network_s = pulled(model).bytes / model.network_bytes_per_s;
    EXPECT_NEAR(network_s, pulled(model).ready_s, 0.01 * network_s);
    model.store_s = 1; /* machines store at the same time */
    EXPECT_NEAR(model.programs, pulled(model).ready_s, network_s);
    model.store_s = 0;
    model.registry_bytes_per_s = model.network_bytes_per_s / 10;
    EXPECT_NEAR(10 * network_s, pulled(model).ready_s, 0.1 * network_s);
}

TEST(FleetModel, ACrashedHolderCostsOneCompilationAndItsLease)
{
    Model model = small();
    model.longest_wait_s = 1000; /* so that no machine stops waiting and compiles, even after several crashes */
    model.restart_s = 0;
    const double without_crashes_s = simulate(model).ready_s;
    model.crash_probability = 0.2;
    const Outcome outcome = simulate(model);
    EXPECT_GT(outcome.crashes, 0u);
    EXPECT_EQ(model.programs + outcome.crashes, outcome.compilations);
    EXPECT_GT(outcome.ready_s, without_crashes_s + model.lease_s);
}

TEST(FleetModel, AllMachinesCompileEverythingDuringAnOutage)
{
    Model model = small();
    model.outage_from_s = 0;
    model.outage_s = 1000;
    const Outcome outcome = simulate(model);
    EXPECT_EQ(uint64_t{model.nodes} * model.programs, outcome.compilations);
    EXPECT_EQ(independent(model).compilations, outcome.compilations);
    EXPECT_LE(outcome.ready_s, independent(model).ready_s);
}

} // namespace
