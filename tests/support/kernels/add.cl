__kernel void add(__global int *x)
{
    size_t i = get_global_id(0);
    x[i] = x[i] + AMOUNT;
}
