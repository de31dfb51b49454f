/*
 * cuda_empty.c - a libcuda.so.1 without CUDA in it.
 */
int cuda_empty_is_here;
