/* This kernel needs 4 MiB of local memory, more than any device of the tests has. */
__kernel void big(__global int *x)
{
    __local int a[1 << 20];
    const size_t i = get_local_id(0);
    a[i * 7] = x[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    x[i] = a[i * 11];
}
