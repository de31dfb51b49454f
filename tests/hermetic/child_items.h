/*
 * child_items.h - works on numbered items in child processes, so that a compiler that crashes ends only one item.
 *
 * The parent loads no driver. A child works on many items in turn. If it ends in the middle of an item, the parent
 * knows the item's last phase, and the next child continues after it. A child is replaced after `per_child` items,
 * because drivers do not free all their memory.
 */
#pragma once

#include <cstdio>
#include <ctime>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace hermetic
{

/* What a child reports about an item, by key. */
using Findings = std::map<std::string, std::string>;

class ItemWriter
{
public:
    explicit ItemWriter(std::FILE *out) : out_(out) {}
    /* Reports a value, which may contain any bytes. */
    void say(const std::string &key, const std::string &value);
    void phase(const std::string &name) { say("phase", name); }

private:
    std::FILE *out_;
};

struct ItemRange {
    size_t first;
    size_t end;
    size_t per_child;
    std::time_t deadline; /* no item is begun after it; 0: none */
};

using Work = std::function<void(size_t index, ItemWriter &writer)>;
/* Called in the parent with the findings of each item. If the child crashed, the findings have the key "crash", and its
 * value says how the child ended. */
using Take = std::function<void(size_t index, const Findings &findings)>;

/* Works on all items of the range. Returns how many were begun. */
size_t work_in_children(const ItemRange &range, const Work &work, const Take &take);

} // namespace hermetic
