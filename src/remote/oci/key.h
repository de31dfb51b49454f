/*
 * key.h - the namespace of an image's entries. It is a part of each entry's key, as the namespace on other servers is.
 */
#ifndef INGOT_REMOTE_OCI_KEY_H
#define INGOT_REMOTE_OCI_KEY_H

#define OCI_NAME_SPACE "oci"

#endif
