"""Compiles a small network for OpenVINO's GPU plugin: openvino_network.py convolution|transformer

Prints the device's kind and the operations of the compiled network. With OPENVINO_CACHE_DIR, OpenVINO keeps its own
cache of compiled networks there. The simulated device computes nothing, so nothing is inferred.
"""
import os
import sys

import numpy as np
import openvino as ov
from openvino import opset8 as op

random = np.random.default_rng(1)


def weights(*shape):
    return op.constant((random.standard_normal(shape) * 0.05).astype(np.float32))


def convolution():
    image = layer = op.parameter([1, 3, 32, 32], np.float32, name="image")
    channels = 3
    for wider in (8, 16, 32):
        layer = op.relu(op.convolution(layer, weights(wider, channels, 3, 3), [1, 1], [1, 1], [1, 1], [1, 1]))
        layer = op.max_pool(layer, [2, 2], [1, 1], [0, 0], [0, 0], [2, 2], "floor", "explicit").output(0)
        channels = wider
    mean = op.reduce_mean(layer, op.constant(np.array([2, 3], np.int64)), False)
    return ov.Model([op.softmax(mean, 1)], [image], "convolution")


def transformer(length=16, width=64, blocks=2):
    def linear(value, inner, outer):
        return op.matmul(value, weights(inner, outer), False, False)

    def normalized(value):
        return op.mvn(value, op.constant(np.array([2], np.int64)), True, 1e-5, "inside_sqrt")

    tokens = state = op.parameter([1, length, width], np.float32, name="tokens")
    for _ in range(blocks):
        query, key, value = (linear(normalized(state), width, width) for _ in range(3))
        scores = op.multiply(op.matmul(query, key, False, True), op.constant(np.float32(width**-0.5)))
        attention = op.matmul(op.softmax(scores, 2), value, False, False)
        state = op.add(state, linear(attention, width, width))
        wide = op.gelu(linear(normalized(state), width, 4 * width), "erf")
        state = op.add(state, linear(wide, 4 * width, width))
    return ov.Model([state], [tokens], "transformer")


def main():
    core = ov.Core()
    if "OPENVINO_CACHE_DIR" in os.environ:
        core.set_property({"CACHE_DIR": os.environ["OPENVINO_CACHE_DIR"]})
    network = {"convolution": convolution, "transformer": transformer}[sys.argv[1]]()
    compiled = core.compile_model(network, "GPU")
    print(compiled.get_property("EXECUTION_DEVICES"))
    for operation in compiled.get_runtime_model().get_ordered_ops():
        print(operation.get_friendly_name(), str(operation.get_rt_info()["layerType"]))


main()
