int FUNCTION(int x);

__kernel void call(__global int *x)
{
    size_t i = get_global_id(0);
    x[i] = FUNCTION(x[i]);
}
