/*
 * startup_network.cl - a network of eleven layers in one program, as an engine makes it that compiles a whole model at
 * once.
 *
 * Each layer is a kernel of the digits example, compiled for the layer's shape. Options: those kernel options that are
 * the same for all layers, and WIDTH, the number of channels between layers.
 */
#include "normalize.cl"

#define convolve_3x3 convolve_1
#define IN_CHANNELS 1
#define OUT_CHANNELS WIDTH
#include "conv.cl"
#undef convolve_3x3
#undef IN_CHANNELS
#undef OUT_CHANNELS

#define IN_CHANNELS WIDTH
#define OUT_CHANNELS WIDTH
#define convolve_3x3 convolve_2
#include "conv.cl"
#undef convolve_3x3
#undef OUT_CHANNELS

#define OUT_CHANNELS (2 * WIDTH)
#define convolve_3x3 convolve_3
#include "conv.cl"
#undef convolve_3x3
#undef IN_CHANNELS
#undef OUT_CHANNELS

#define CHANNELS (2 * WIDTH)
#define max_pool_2x2 max_pool_1
#include "pool.cl"
#undef CHANNELS
#undef max_pool_2x2

#define CHANNELS WIDTH
#define max_pool_2x2 max_pool_2
#include "pool.cl"
#undef max_pool_2x2

#define INPUTS (TILE * WIDTH)
#define OUTPUTS (8 * WIDTH)
#define dense dense_1
#include "dense.cl"
#undef dense
#undef OUTPUTS

#define OUTPUTS (4 * WIDTH)
#define dense dense_2
#include "dense.cl"
#undef dense
#undef OUTPUTS

#define OUTPUTS CLASSES
#define dense dense_3
#include "dense.cl"

#include "softmax.cl"
#include "argmax.cl"
