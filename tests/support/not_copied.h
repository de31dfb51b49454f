/*
 * not_copied.h - the base of objects that own something, so that a copy would release it twice.
 */
#pragma once

class NotCopied
{
public:
    NotCopied(const NotCopied &) = delete;
    NotCopied &operator=(const NotCopied &) = delete;

protected:
    NotCopied() = default;
    ~NotCopied() = default;
};
