#pragma once
DEVICE real distance_of(GLOBAL const real *a, GLOBAL const real *b, int count)
{
    real sum = 0;
    for (int i = 0; i < count; ++i)
        sum += (a[i] - b[i]) * (a[i] - b[i]);
    return sum;
}
