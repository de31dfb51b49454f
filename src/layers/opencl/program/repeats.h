/*
 * repeats.h - handles programs that an application builds again and again.
 */
#ifndef INGOT_LAYERS_OPENCL_PROGRAM_REPEATS_H
#define INGOT_LAYERS_OPENCL_PROGRAM_REPEATS_H

#include "layers/opencl/layer.h"

/* Loads the program of `desc` from the store, or compiles it. Stores only its first compilation in this process. Sets
 * *is_shared to true if another thread made the program at the same time, and got it, too. */
ingot_status_t repeats_create_program(ingot_program_t *program, ingot_program_desc_t desc, bool *is_shared);

/* Removes the program's blob from the store, because the driver rejected it. The next compilation is stored again. */
void repeats_remove(ingot_program_desc_t desc);

#endif
