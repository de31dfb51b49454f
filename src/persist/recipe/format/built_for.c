/*
 * built_for.c - finds the names of the device and of the driver's version in an id; see built_for.h and
 * doc/blob-format.md.
 */
#include "persist/recipe/format/built_for.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "util/id_fields.h"
#include "util/little_endian.h"

struct view {
    size_t size;
    const uint8_t *bytes;
};

static bool take(struct view *from, size_t size, struct view *part)
{
    *part = (struct view){size, from->bytes};
    if (from->size < size)
        return false;
    from->bytes += size;
    from->size -= size;
    return true;
}

static bool take_framed(struct view *from, struct view *part)
{
    struct view size;
    return take(from, sizeof(uint64_t), &size) && le_get_u64(size.bytes) <= from->size &&
           take(from, (size_t)le_get_u64(size.bytes), part);
}

static bool find_device(struct view id, struct view *device)
{
    struct view tag;
    struct view skipped;
    if (!take(&id, ID_FIELDS_OFFSET, &skipped))
        return false;
    while (take(&id, sizeof(uint32_t), &tag) && take_framed(&id, device)) {
        if (le_get_u32(tag.bytes) == ID_DEVICE)
            return true;
    }
    return false;
}

static struct view find_field(struct view device, const char *wanted)
{
    struct view name;
    struct view value;
    while (take_framed(&device, &name) && take_framed(&device, &value)) {
        if (name.size == strlen(wanted) && memcmp(name.bytes, wanted, name.size) == 0)
            return value;
    }
    return (struct view){0, NULL};
}

void built_for(size_t id_size, const uint8_t *id, size_t capacity, char *text)
{
    struct view device;
    text[0] = '\0';
    if (!find_device((struct view){id_size, id}, &device))
        return;
    const struct view name = find_field(device, "device_name");
    const struct view version = find_field(device, "driver_version");
    (void)snprintf(text, capacity, "%.*s%s%.*s", (int)strnlen((const char *)name.bytes, name.size), name.bytes,
                   name.size != 0 && version.size != 0 ? ", driver " : "",
                   (int)strnlen((const char *)version.bytes, version.size), version.bytes);
}
