/*
 * network.c - runs the network with one launch per layer on an in-order queue, so that no layer waits for the host.
 *
 * Ingot shares kernels. Threads that share a kernel must call ingot_kernel_lock before they set its arguments
 * and launch it. Here, only one thread does this, so no lock is needed.
 */
#include "network.h"

#include <stdio.h>

struct argument {
    size_t size;
    const void *value;
};

struct shape {
    cl_uint dimensions;
    size_t global[3];
    size_t local[3];
};

static int check(cl_int error, const char *doing)
{
    if (error == CL_SUCCESS)
        return 0;
    fprintf(stderr, "digits: %s failed (%d)\n", doing, (int)error);
    return -1;
}

static size_t round_up(size_t n, size_t multiple)
{
    return (n + multiple - 1) / multiple * multiple;
}

static cl_mem make_buffer(const struct device *device, size_t size, const void *content, cl_int *error)
{
    const cl_mem_flags flags = content != NULL ? CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR : CL_MEM_READ_WRITE;
    if (*error != CL_SUCCESS)
        return NULL;
    /* OpenCL takes a pointer to non-const memory, but only reads it. */
    return clCreateBuffer(device->context, flags, size, (void *)(uintptr_t)content, error);
}

static int make_buffers(struct network *network, const struct weights *weights, size_t images)
{
    const struct device *device = network->device;
    const size_t f = sizeof(float);
    cl_int error = CL_SUCCESS;
    for (size_t i = 0; i < TENSOR_COUNT; ++i)
        network->weights[i] = make_buffer(device, weights->sizes[i] * f, weights->tensors[i], &error);
    network->pixels = make_buffer(device, images * PIXELS, NULL, &error);
    network->normalized = make_buffer(device, images * PIXELS * f, NULL, &error);
    network->conv1 = make_buffer(device, images * CONV1 * PIXELS * f, NULL, &error);
    network->conv2 = make_buffer(device, images * CONV2 * PIXELS * f, NULL, &error);
    network->pooled = make_buffer(device, images * POOLED * f, NULL, &error);
    network->hidden = make_buffer(device, images * HIDDEN * f, NULL, &error);
    network->logits = make_buffer(device, images * CLASSES * f, NULL, &error);
    network->probabilities = make_buffer(device, images * CLASSES * f, NULL, &error);
    network->labels = make_buffer(device, images, NULL, &error);
    return check(error, "making a buffer");
}

int network_open(struct network *network, const struct device *device, const struct programs *programs,
                 const struct weights *weights, size_t max_images)
{
    network->device = device;
    for (enum program i = NORMALIZE; i < PROGRAM_COUNT; ++i) {
        ingot_status_t status = ingot_kernel_create(&network->kernels[i], programs->list[i], 0, programs_kernel(i));
        if (status == INGOT_SUCCESS)
            status = ingot_opencl_kernel_get_native(network->kernels[i], &network->native[i]);
        if (programs_check(status, programs_kernel(i)) != 0)
            return -1;
    }
    return make_buffers(network, weights, max_images);
}

static int launch(struct network *network, enum program layer, const struct shape *shape, cl_uint count,
                  const struct argument *arguments)
{
    cl_kernel kernel = network->native[layer];
    for (cl_uint i = 0; i < count; ++i)
        if (check(clSetKernelArg(kernel, i, arguments[i].size, arguments[i].value), programs_name(layer)) != 0)
            return -1;
    return check(clEnqueueNDRangeKernel(network->device->queue, kernel, shape->dimensions, NULL, shape->global,
                                        shape->local, 0, NULL, NULL),
                 programs_name(layer));
}

#define BUFFER(buffer)                                                                                                 \
    {                                                                                                                  \
        sizeof(cl_mem), &(buffer)                                                                                      \
    }

/* Runs a layer that maps one array to another, with `items` work-items. */
static int launch_map(struct network *network, enum program layer, cl_mem *input, cl_mem *output, cl_uint images,
                      size_t items)
{
    const struct shape shape = {1, {round_up(items, GROUP)}, {GROUP}};
    const struct argument arguments[] = {BUFFER(*input), BUFFER(*output), {sizeof(images), &images}};
    return launch(network, layer, &shape, 3, arguments);
}

static int launch_convolution(struct network *network, enum program layer, cl_mem *input, enum tensor weights,
                              cl_mem *output, cl_uint images)
{
    const struct shape shape = {3, {SIDE, SIDE, images}, {SIDE, SIDE, 1}};
    const struct argument arguments[] = {BUFFER(*input), BUFFER(network->weights[weights]),
                                         BUFFER(network->weights[weights + 1]), BUFFER(*output)};
    return launch(network, layer, &shape, 4, arguments);
}

static int launch_dense(struct network *network, enum program layer, cl_mem *input, enum tensor weights, cl_mem *output,
                        size_t outputs, cl_uint images)
{
    const struct shape shape = {2, {round_up(outputs, TILE), round_up(images, TILE)}, {TILE, TILE}};
    const struct argument arguments[] = {BUFFER(*input),
                                         BUFFER(network->weights[weights]),
                                         BUFFER(network->weights[weights + 1]),
                                         BUFFER(*output),
                                         {sizeof(images), &images}};
    return launch(network, layer, &shape, 5, arguments);
}

static int launch_layers(struct network *n, cl_uint images)
{
    if (launch_map(n, NORMALIZE, &n->pixels, &n->normalized, images, (size_t)images * PIXELS) != 0 ||
        launch_convolution(n, CONVOLVE_1, &n->normalized, CONV1_WEIGHTS, &n->conv1, images) != 0 ||
        launch_convolution(n, CONVOLVE_2, &n->conv1, CONV2_WEIGHTS, &n->conv2, images) != 0 ||
        launch_map(n, MAX_POOL, &n->conv2, &n->pooled, images, (size_t)images * POOLED) != 0 ||
        launch_dense(n, DENSE_HIDDEN, &n->pooled, HIDDEN_WEIGHTS, &n->hidden, HIDDEN, images) != 0 ||
        launch_dense(n, DENSE_CLASSES, &n->hidden, CLASS_WEIGHTS, &n->logits, CLASSES, images) != 0 ||
        launch_map(n, SOFTMAX, &n->logits, &n->probabilities, images, images) != 0)
        return -1;
    return launch_map(n, ARGMAX, &n->probabilities, &n->labels, images, images);
}

int network_classify(struct network *network, const uint8_t *pixels, size_t count, uint8_t *labels, float *logits)
{
    cl_command_queue queue = network->device->queue;
    if (check(clEnqueueWriteBuffer(queue, network->pixels, CL_FALSE, 0, count * PIXELS, pixels, 0, NULL, NULL),
              "writing the images") != 0 ||
        launch_layers(network, (cl_uint)count) != 0 ||
        check(clEnqueueReadBuffer(queue, network->logits, CL_FALSE, 0, count * CLASSES * sizeof(float), logits, 0, NULL,
                                  NULL),
              "reading the logits") != 0)
        return -1;
    return check(clEnqueueReadBuffer(queue, network->labels, CL_TRUE, 0, count, labels, 0, NULL, NULL),
                 "reading the labels");
}

void network_close(struct network *n)
{
    cl_mem buffers[] = {n->pixels, n->normalized, n->conv1,         n->conv2, n->pooled,
                        n->hidden, n->logits,     n->probabilities, n->labels};
    for (size_t i = 0; i < sizeof(buffers) / sizeof(buffers[0]); ++i)
        if (buffers[i] != NULL)
            clReleaseMemObject(buffers[i]);
    for (size_t i = 0; i < TENSOR_COUNT; ++i)
        if (n->weights[i] != NULL)
            clReleaseMemObject(n->weights[i]);
    for (enum program i = NORMALIZE; i < PROGRAM_COUNT; ++i)
        ingot_kernel_release(n->kernels[i]);
}
