/*
 * child_items.h - numbered items worked on in a child process, so that a compiler that ends its process ends one item.
 *
 * The parent loads no driver. A child works on many items in turn; when it ends in the middle of one, the item's last
 * phase is known and the next child continues after it. A child is replaced from time to time, because drivers keep
 * memory.
 */
#ifndef INGOT_TESTS_HERMETIC_CHILD_ITEMS_H
#define INGOT_TESTS_HERMETIC_CHILD_ITEMS_H

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
    std::time_t deadline; /* 0: none; items that are not begun by then are left out */
};

using Work = std::function<void(size_t index, ItemWriter &writer)>;
/* Findings of a child that ended have "crash", with how it ended. */
using Take = std::function<void(size_t index, const Findings &findings)>;

/* Returns how many items were worked on. */
size_t work_in_children(const ItemRange &range, const Work &work, const Take &take);

} // namespace hermetic

#endif
