/*
 * identity.h - what tells one device, driver and compiler from another.
 */
#ifndef INGOT_BACKENDS_CUDA_IDENTITY_H
#define INGOT_BACKENDS_CUDA_IDENTITY_H

#include <ingot/backend.h>

ingot_status_t cuda_identify_device(void *state, uint32_t device_index, ingot_identity_t *identity);

#endif
