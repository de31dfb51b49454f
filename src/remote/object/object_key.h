/*
 * object_key.h - derives the name of an object on a server from its id; see doc/remote-format.md.
 */
#ifndef INGOT_REMOTE_OBJECT_OBJECT_KEY_H
#define INGOT_REMOTE_OBJECT_OBJECT_KEY_H

#include <stddef.h>
#include <stdint.h>

#define OBJECT_KEY_HEX_SIZE 64u
#define OBJECT_KEY_CAPACITY (OBJECT_KEY_HEX_SIZE + 1)

/* Writes the digest of format version, namespace and id as 64 hexadecimal digits and a NUL. */
void object_key_of(const char *name_space, size_t id_size, const uint8_t *id, char key[OBJECT_KEY_CAPACITY]);

#endif
