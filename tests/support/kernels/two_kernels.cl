__kernel void twice(__global int *x)
{
    size_t i = get_global_id(0);
    x[i] = x[i] + x[i];
}

__kernel void square(__global int *x)
{
    size_t i = get_global_id(0);
    x[i] = x[i] * x[i];
}
