/* rotary.cu - applies a rotary position embedding, and draws a model's next token from a softmax with a temperature.
 * Option: VOCABULARY. */
extern "C" __global__ void rotate(float *heads, const int *positions, int head_size, float base)
{
    float *head = heads + (static_cast<size_t>(blockIdx.y) * gridDim.x + blockIdx.x) * head_size;
    for (int i = threadIdx.x; i < head_size / 2; i += blockDim.x) {
        const float angle = positions[blockIdx.y] * powf(base, -2.0f * i / head_size);
        float sine = 0.0f, cosine = 0.0f;
        sincosf(angle, &sine, &cosine);
        const float a = head[i], b = head[i + head_size / 2];
        head[i] = a * cosine - b * sine;
        head[i + head_size / 2] = a * sine + b * cosine;
    }
}

extern "C" __global__ void draw(const float *logits, const float *uniform, int *tokens, float temperature)
{
    const float *row = logits + static_cast<size_t>(blockIdx.x * blockDim.x + threadIdx.x) * VOCABULARY;
    float largest = row[0], sum = 0.0f;
    for (int i = 1; i < VOCABULARY; ++i)
        largest = fmaxf(largest, row[i]);
    for (int i = 0; i < VOCABULARY; ++i)
        sum += expf((row[i] - largest) / temperature);
    float left = uniform[blockIdx.x * blockDim.x + threadIdx.x] * sum;
    int token = 0;
    for (; token < VOCABULARY - 1; ++token) {
        left -= expf((row[token] - largest) / temperature);
        if (left < 0.0f)
            break;
    }
    tokens[blockIdx.x * blockDim.x + threadIdx.x] = token;
}
