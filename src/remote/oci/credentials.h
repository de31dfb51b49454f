/*
 * credentials.h - finds the credentials for a registry: in the file that the URL names, or where `docker login` and
 * `skopeo login` keep them.
 */
#ifndef INGOT_REMOTE_OCI_CREDENTIALS_H
#define INGOT_REMOTE_OCI_CREDENTIALS_H

#include <ingot/ingot.h>

#include "remote/settings/secret_file.h"
#include "remote/settings/url.h"

/* Writes USER:PASSWORD for the registry HOST[:PORT], or "" if there are no credentials.
 * @retval INGOT_INVALID_ARGUMENTS, INGOT_UNTRUSTED, INGOT_NOT_FOUND, INGOT_IO_ERROR, INGOT_OUT_OF_MEMORY */
ingot_status_t credentials_find(const struct url *url, const char *host, char secret[SECRET_CAPACITY]);

#endif
