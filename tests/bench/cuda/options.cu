/* options.cu - computes prices of options with the Black-Scholes formula and with random paths. Option: REAL. */
__device__ inline REAL normal(REAL x)
{
    return static_cast<REAL>(0.5) * erfc(-x * static_cast<REAL>(0.70710678118654752));
}

extern "C" __global__ void black_scholes(const REAL *price, const REAL *strike, const REAL *years, REAL *call,
                                         REAL *put, REAL rate, REAL volatility, int count)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    const REAL deviation = volatility * sqrt(years[i]);
    const REAL d1 = (log(price[i] / strike[i]) + (rate + volatility * volatility / 2) * years[i]) / deviation;
    const REAL discounted = strike[i] * exp(-rate * years[i]);
    call[i] = price[i] * normal(d1) - discounted * normal(d1 - deviation);
    put[i] = call[i] - price[i] + discounted;
}

__device__ inline unsigned next_random(unsigned &state)
{
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return state;
}

extern "C" __global__ void random_paths(REAL *sums, REAL price, REAL strike, REAL drift, REAL deviation, int steps)
{
    unsigned state = (blockIdx.x * blockDim.x + threadIdx.x) * 2654435761u + 1u;
    REAL logarithm = log(price);
    for (int i = 0; i < steps; ++i) {
        const REAL u = (static_cast<REAL>(next_random(state)) + 1) / static_cast<REAL>(4294967297.0);
        const REAL v = static_cast<REAL>(next_random(state)) / static_cast<REAL>(2147483648.0);
        logarithm += drift + deviation * sqrt(-2 * log(u)) * cospi(v);
    }
    atomicAdd(&sums[blockIdx.x], fmax(exp(logarithm) - strike, static_cast<REAL>(0)));
}
