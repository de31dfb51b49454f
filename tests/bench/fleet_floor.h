/*
 * fleet_floor.h - does the minimum work of a load from a server: the client library sends a GET on an open connection,
 * and the answer is checksummed.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace fleet
{

/* Loads objects on one connection. Throws if the server does not return an object. */
class Floor
{
public:
    virtual ~Floor() = default;
    /* Loads the object whose name has this index in the list. Returns its checksum. */
    virtual uint64_t load(size_t number) = 0;
    /* Returns the size of the largest object loaded so far. */
    virtual size_t object_size() const = 0;
};

/* Returns a floor that loads with hiredis over TCP. `names` are keys. */
std::unique_ptr<Floor> make_redis_floor(uint16_t port, const std::vector<std::string> &names);

/* Returns a floor that loads with libcurl's easy interface. `names` are URLs. */
std::unique_ptr<Floor> make_http_floor(const std::vector<std::string> &names);

} // namespace fleet
