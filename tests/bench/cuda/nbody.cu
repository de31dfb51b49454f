/* nbody.cu - computes the gravity among bodies, whose positions it reads tile by tile into shared memory. Option:
 * TILE. */
extern "C" __global__ void accelerate(const float4 *bodies, float4 *velocities, unsigned count, float step)
{
    __shared__ float4 tile[TILE];
    const unsigned i = blockIdx.x * TILE + threadIdx.x;
    const float4 own = bodies[i < count ? i : 0];
    float3 sum = make_float3(0.0f, 0.0f, 0.0f);
    for (unsigned start = 0; start < count; start += TILE) {
        const unsigned from = start + threadIdx.x;
        tile[threadIdx.x] = from < count ? bodies[from] : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        __syncthreads();
#pragma unroll 16
        for (unsigned j = 0; j < TILE; ++j) {
            const float x = tile[j].x - own.x, y = tile[j].y - own.y, z = tile[j].z - own.z;
            const float inverse = rsqrtf(x * x + y * y + z * z + 1e-4f);
            const float force = tile[j].w * inverse * inverse * inverse;
            sum.x += x * force;
            sum.y += y * force;
            sum.z += z * force;
        }
        __syncthreads();
    }
    if (i < count) {
        velocities[i].x += sum.x * step;
        velocities[i].y += sum.y * step;
        velocities[i].z += sum.z * step;
    }
}

extern "C" __global__ void move(float4 *bodies, const float4 *velocities, unsigned count, float step)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        bodies[i].x += velocities[i].x * step;
        bodies[i].y += velocities[i].y * step;
        bodies[i].z += velocities[i].z * step;
    }
}
