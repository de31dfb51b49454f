/*
 * environment.h - environment variables of the process for as long as a test needs them.
 */
#pragma once

#include <cstdlib>
#include <map>
#include <string>
#include <utility>

#include "support/not_copied.h"

/* Sets variables, and unsets them at the end. */
class Environment : NotCopied
{
public:
    using Values = std::map<std::string, std::string>;

    explicit Environment(Values values) : values_(std::move(values))
    {
        for (const auto &[name, value] : values_)
            setenv(name.c_str(), value.c_str(), 1);
    }
    ~Environment()
    {
        for (const auto &[name, value] : values_)
            unsetenv(name.c_str());
    }

private:
    Values values_;
};

/* Sets one variable, and unsets it at the end. */
class Variable : public Environment
{
public:
    Variable(const std::string &name, const std::string &value) : Environment(Values{{name, value}}) {}
};
