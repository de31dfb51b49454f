/*
 * oci.h - the transport that reads single objects of an image in an OCI registry.
 */
#ifndef INGOT_REMOTE_OCI_OCI_H
#define INGOT_REMOTE_OCI_OCI_H

#include <ingot/ingot.h>

#include "remote/base/transport.h"
#include "remote/settings/url.h"

/* Opens a transport. Does not connect. Statuses as registry_init. */
ingot_status_t oci_open(struct transport *transport, const struct url *url);

#endif
