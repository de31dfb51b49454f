/*
 * fleet_floor.h - the minimum work of a load from a server: the client library's GET on a connection that is kept, and
 * a checksum of what came.
 */
#ifndef INGOT_TESTS_BENCH_FLEET_FLOOR_H
#define INGOT_TESTS_BENCH_FLEET_FLOOR_H

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace fleet
{

/* One connection. It throws if an object does not come. */
class Floor
{
public:
    virtual ~Floor() = default;
    /* Returns the checksum of an object, by its number in the list of names. */
    virtual uint64_t load(size_t number) = 0;
    /* The largest size of the objects that were loaded. */
    virtual size_t object_size() const = 0;
};

/* hiredis on TCP. names: keys. */
std::unique_ptr<Floor> make_redis_floor(uint16_t port, const std::vector<std::string> &names);

/* libcurl's easy interface. names: URLs. */
std::unique_ptr<Floor> make_http_floor(const std::vector<std::string> &names);

/*
 * Makes so many requests for a lease that another client has, as doc/remote-format.md describes them, and returns the
 * microseconds of one.
 */
double time_of_busy_leases(uint16_t port, unsigned count);

} // namespace fleet

#endif
