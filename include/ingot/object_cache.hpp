/* SPDX-License-Identifier: MIT */
/* Stable, advanced. */
/**
 * @file object_cache.hpp
 * object_cache.h for C++17: takes objects as std::unique_ptr and returns them as handles.
 * Header-only.
 *
 * ingot.hpp describes the conventions: handles, exceptions, threads.
 *
 * @par Types
 * The cache does not know the type of an object. Each request must name the type that the object was set with.
 */
#ifndef INGOT_OBJECT_CACHE_HPP
#define INGOT_OBJECT_CACHE_HPP

#include <memory>

#include <ingot/ingot.hpp>
#include <ingot/object_cache.h>

namespace ingot
{

/** A reference to a cached object. It may outlive the cache. The last reference deletes the object. */
template <typename T> class object : public detail::owner<ingot_object_t, ingot_object_release>
{
public:
    object() noexcept = default;
    /** Takes ownership of a reference to an object that is a T. */
    explicit object(ingot_object_t handle) noexcept : detail::owner<ingot_object_t, ingot_object_release>(handle) {}

    /** Returns the object; NULL for an empty handle. It is shared: T decides what threads may do at once. */
    T *value() const noexcept { return static_cast<T *>(ingot_object_get_value(get())); }
    T &operator*() const noexcept { return *value(); }
    T *operator->() const noexcept { return value(); }
};

/** The place of an object: a session, a group in the session, and a name in the group. */
struct object_place {
    const char *session;
    const char *group;
    const char *name;
};

/** An in-memory cache for an application's own objects. */
class object_cache : public detail::owner<ingot_object_cache_t, ingot_object_cache_release>
{
public:
    object_cache() noexcept = default;
    /** Takes ownership of a reference. */
    explicit object_cache(ingot_object_cache_t handle) noexcept : owner(handle) {}
    explicit object_cache(const ingot_object_cache_info_t &info) { check(ingot_object_cache_create(out(), &info)); }
    /** Creates an empty cache. @param max_groups  0: no limit. @throws error  INGOT_OUT_OF_MEMORY */
    static object_cache create(size_t max_groups = 0)
    {
        ingot_object_cache_limits_t limits = INGOT_OBJECT_CACHE_LIMITS_INIT;
        ingot_object_cache_info_t info = INGOT_OBJECT_CACHE_INFO_INIT;
        limits.max_groups = max_groups;
        info.limits = &limits;
        return object_cache(info);
    }

    /** Puts an object at a place and replaces any object there.
     *  @throws error  INGOT_NO_SPACE, INGOT_OUT_OF_MEMORY, INGOT_INVALID_ARGUMENTS. @p value is deleted then. */
    template <typename T> object<T> set(const object_place &place, std::unique_ptr<T> value)
    {
        ingot_object_t handle = nullptr;
        check(ingot_object_cache_set(&handle, get(), place.session, place.group, place.name, value.get(), destroy<T>));
        (void)value.release();
        return object<T>(handle);
    }

    /** Returns the object at a place, or an empty handle if there is none. */
    template <typename T> object<T> get_object(const object_place &place) const
    {
        ingot_object_t handle = nullptr;
        const ingot_status_t status = ingot_object_cache_get(&handle, get(), place.session, place.group, place.name);
        return found<T>(status, handle);
    }

    /** Takes the object at a place out of the cache. If several threads take it at once, only one of them gets it. */
    template <typename T> object<T> take(const object_place &place)
    {
        ingot_object_t handle = nullptr;
        const ingot_status_t status = ingot_object_cache_take(&handle, get(), place.session, place.group, place.name);
        return found<T>(status, handle);
    }

    /**
     * Returns the object at a place. If there is none, `std::unique_ptr<T> creator()` creates it in this thread. Only
     * one creator runs per place. This function rethrows the creator's exceptions. If the creator throws an
     * ingot::error with INGOT_BUILD_FAILED, the waiting threads get it, too.
     */
    template <typename T, typename Creator> object<T> get_or_create(const object_place &place, Creator &&creator)
    {
        struct call {
            std::remove_reference_t<Creator> &creator;
            detail::exception_keeper keeper;
        } call{creator, {}};
        const auto create_one = [](void **value, void *user) -> ingot_status_t {
            auto *self = static_cast<struct call *>(user);
            return self->keeper.run([&] {
                std::unique_ptr<T> made = self->creator();
                if (made == nullptr)
                    throw error(INGOT_INVALID_ARGUMENTS, "the creator returned no object");
                *value = made.release();
            });
        };
        ingot_object_t handle = nullptr;
        call.keeper.check(ingot_object_cache_get_or_create(&handle, get(), place.session, place.group, place.name,
                                                           create_one, &call, destroy<T>));
        return object<T>(handle);
    }

    /** Drops objects. @param session, group  NULL: all sessions, or all groups. */
    void clear(const char *session = nullptr, const char *group = nullptr)
    {
        check(ingot_object_cache_clear(get(), session, group));
    }
    ingot_object_cache_stats_t stats() const
    {
        ingot_object_cache_stats_t stats = INGOT_OBJECT_CACHE_STATS_INIT;
        check(ingot_object_cache_get_stats(get(), &stats));
        return stats;
    }

private:
    template <typename T> static void destroy(void *value, void *) { delete static_cast<T *>(value); }

    template <typename T> static object<T> found(ingot_status_t status, ingot_object_t handle)
    {
        if (status != INGOT_NOT_FOUND)
            check(status);
        return object<T>(handle);
    }
};

} // namespace ingot

#endif
