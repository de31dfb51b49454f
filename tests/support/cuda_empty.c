/*
 * cuda_empty.c - a libcuda.so.1 that has no function of CUDA.
 */
int cuda_empty_is_here;
