#pragma once
#define ID(n) id_of_##n()
#define LOCAL_ID(n) local_id_of_##n()
__device__ inline int id_of_0()
{
    return (int)(blockIdx.x * blockDim.x + threadIdx.x);
}
__device__ inline int id_of_1()
{
    return (int)(blockIdx.y * blockDim.y + threadIdx.y);
}
__device__ inline int id_of_2()
{
    return (int)(blockIdx.z * blockDim.z + threadIdx.z);
}
__device__ inline int local_id_of_0()
{
    return (int)threadIdx.x;
}
__device__ inline int local_id_of_1()
{
    return (int)threadIdx.y;
}
