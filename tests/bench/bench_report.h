/*
 * bench_report.h - collects the figures of a benchmark, prints them as a table, and writes them as a JSON list for
 * comparing runs.
 */
#pragma once

#include <cstdio>
#include <string>
#include <vector>

namespace bench
{

enum class Goal { none, at_least, at_most };

struct Metric {
    std::string name;
    double value;
    std::string unit;
    Goal goal;
    double bound;

    bool holds() const { return goal == Goal::none || (goal == Goal::at_least ? value >= bound : value <= bound); }
};

class Report
{
public:
    void add(const std::string &name, double value, const std::string &unit, Goal goal = Goal::none, double bound = 0)
    {
        metrics_.push_back({name, value, unit, goal, bound});
    }

    void print() const
    {
        std::printf("\n%-44s %12s %-6s %-16s %s\n", "metric", "value", "unit", "goal", "holds");
        for (const Metric &m : metrics_) {
            char goal[32] = "-";
            if (m.goal != Goal::none)
                std::snprintf(goal, sizeof(goal), "%s %g", m.goal == Goal::at_least ? "at least" : "at most", m.bound);
            std::printf("%-44s %12.3f %-6s %-16s %s\n", m.name.c_str(), m.value, m.unit.c_str(), goal,
                        m.goal == Goal::none ? "-"
                        : m.holds()          ? "yes"
                                             : "NO");
        }
    }

    /* Returns false if the file could not be written. A figure without a goal has the goal null and always holds. */
    bool write_json(const std::string &path) const
    {
        std::FILE *file = std::fopen(path.c_str(), "w");
        if (file == nullptr)
            return false;
        std::fputs("[\n", file);
        for (size_t i = 0; i < metrics_.size(); ++i) {
            const Metric &m = metrics_[i];
            std::fprintf(file, "  {\"name\": \"%s\", \"value\": %.4f, \"unit\": \"%s\", \"goal\": ", m.name.c_str(),
                         m.value, m.unit.c_str());
            if (m.goal == Goal::none)
                std::fputs("null", file);
            else
                std::fprintf(file, "%g", m.bound);
            std::fprintf(file, ", \"holds\": %s}%s\n", m.holds() ? "true" : "false",
                         i + 1 < metrics_.size() ? "," : "");
        }
        std::fputs("]\n", file);
        return std::fclose(file) == 0;
    }

private:
    std::vector<Metric> metrics_;
};

} // namespace bench
