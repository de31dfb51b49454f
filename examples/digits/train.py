#!/usr/bin/env python3
"""Trains the network of the digits example and writes data/weights.bin and data/images.bin.

The images are the 1,797 of scikit-learn's load_digits (the test part of UCI's "Optical Recognition of Handwritten
Digits"). 500 of them, drawn with a fixed seed, are kept for testing and are never used for training or for choosing
anything. Training uses only numpy, so there is little to install:

    pip install numpy scikit-learn
    python3 train.py

The file formats are described in README.md. The seed is fixed; other versions of numpy may round differently.
"""

import pathlib
import struct

import numpy as np
from sklearn.datasets import load_digits

SEED = 20240611
TEST_IMAGES = 500
CONV1, CONV2, HIDDEN, CLASSES = 8, 16, 32, 10
EPOCHS, BATCH, RATE, DECAY = 60, 64, 2e-3, 1e-4


def normalize(pixels):
    """As the normalize kernel does: 0..16 becomes -1..1."""
    return pixels.astype(np.float32) / 8.0 - 1.0


def patches(x):
    """All 3x3 neighborhoods with a border of zeros: (n, c, 8, 8) to (n, 8, 8, c * 9)."""
    n, c = x.shape[:2]
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    views = [padded[:, :, dy : dy + 8, dx : dx + 8] for dy in range(3) for dx in range(3)]
    return np.stack(views, axis=2).reshape(n, c * 9, 8, 8).transpose(0, 2, 3, 1)


def unpatch(grad, c):
    """The transpose of patches, for the gradient."""
    n = grad.shape[0]
    parts = grad.transpose(0, 3, 1, 2).reshape(n, c, 9, 8, 8)
    padded = np.zeros((n, c, 10, 10), np.float32)
    for i in range(9):
        dy, dx = divmod(i, 3)
        padded[:, :, dy : dy + 8, dx : dx + 8] += parts[:, :, i]
    return padded[:, :, 1:9, 1:9]


def init(rng):
    def weights(out, fan_in):
        return (rng.standard_normal((out, fan_in)) * np.sqrt(2.0 / fan_in)).astype(np.float32)

    shapes = [(CONV1, 9), (CONV2, CONV1 * 9), (HIDDEN, CONV2 * 16), (CLASSES, HIDDEN)]
    tensors = []
    for out, fan_in in shapes:
        tensors += [weights(out, fan_in), np.zeros(out, np.float32)]
    return tensors


def forward(t, x):
    """Logits, and what the backward pass needs."""
    p1 = patches(x)
    a1 = np.maximum(p1 @ t[0].T + t[1], 0).transpose(0, 3, 1, 2)
    p2 = patches(a1)
    a2 = np.maximum(p2 @ t[2].T + t[3], 0).transpose(0, 3, 1, 2)
    n = x.shape[0]
    windows = a2.reshape(n, CONV2, 4, 2, 4, 2).transpose(0, 1, 2, 4, 3, 5).reshape(n, CONV2, 4, 4, 4)
    best = windows.argmax(axis=4)
    pooled = windows.max(axis=4).reshape(n, -1)
    hidden = np.maximum(pooled @ t[4].T + t[5], 0)
    return hidden @ t[6].T + t[7], (p1, a1, p2, a2, best, pooled, hidden)


def backward(t, logits, labels, kept):
    """Gradients of the mean cross-entropy."""
    p1, a1, p2, a2, best, pooled, hidden = kept
    n = logits.shape[0]
    e = np.exp(logits - logits.max(axis=1, keepdims=True))
    d = e / e.sum(axis=1, keepdims=True)
    d[np.arange(n), labels] -= 1
    d /= n
    g = [None] * 8
    g[6], g[7] = d.T @ hidden, d.sum(axis=0)
    d = (d @ t[6]) * (hidden > 0)
    g[4], g[5] = d.T @ pooled, d.sum(axis=0)
    d = (d @ t[4]).reshape(n, CONV2, 4, 4)
    windows = (np.arange(4) == best[..., None]) * d[..., None]
    d = windows.reshape(n, CONV2, 4, 4, 2, 2).transpose(0, 1, 2, 4, 3, 5).reshape(n, CONV2, 8, 8)
    d = (d * (a2 > 0)).transpose(0, 2, 3, 1).reshape(-1, CONV2)
    g[2], g[3] = d.T @ p2.reshape(-1, CONV1 * 9), d.sum(axis=0)
    d = unpatch((d @ t[2]).reshape(n, 8, 8, CONV1 * 9), CONV1) * (a1 > 0)
    d = d.transpose(0, 2, 3, 1).reshape(-1, CONV1)
    g[0], g[1] = d.T @ p1.reshape(-1, 9), d.sum(axis=0)
    return g


def shifted(rng, x):
    """Each image moved by up to one pixel, so that the network learns shapes and not places."""
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)), constant_values=-1.0)
    out = np.empty_like(x)
    for i, (dy, dx) in enumerate(rng.integers(0, 3, (x.shape[0], 2))):
        out[i] = padded[i, :, dy : dy + 8, dx : dx + 8]
    return out


def train(rng, x, labels):
    tensors = init(rng)
    mean = [np.zeros_like(t) for t in tensors]
    square = [np.zeros_like(t) for t in tensors]
    step = 0
    for epoch in range(EPOCHS):
        rate = RATE * 0.5 * (1 + np.cos(np.pi * epoch / EPOCHS))
        order = rng.permutation(len(x))
        for start in range(0, len(x), BATCH):
            chosen = order[start : start + BATCH]
            logits, kept = forward(tensors, shifted(rng, x[chosen]))
            step += 1
            for i, grad in enumerate(backward(tensors, logits, labels[chosen], kept)):
                mean[i] = 0.9 * mean[i] + 0.1 * grad
                square[i] = 0.999 * square[i] + 0.001 * grad * grad
                update = (mean[i] / (1 - 0.9**step)) / (np.sqrt(square[i] / (1 - 0.999**step)) + 1e-8)
                tensors[i] = (tensors[i] - rate * (update + DECAY * tensors[i])).astype(np.float32)
        if epoch % 10 == 9:
            print(f"epoch {epoch + 1}: training accuracy {accuracy(tensors, x, labels):.4f}")
    return tensors


def accuracy(tensors, x, labels):
    return float((forward(tensors, x)[0].argmax(axis=1) == labels).mean())


def write(folder, tensors, pixels, labels):
    folder.mkdir(exist_ok=True)
    with open(folder / "weights.bin", "wb") as file:
        file.write(b"DIGITSW1" + struct.pack("<4I", CONV1, CONV2, HIDDEN, CLASSES))
        for tensor in tensors:
            file.write(tensor.astype("<f4").tobytes())
    with open(folder / "images.bin", "wb") as file:
        file.write(b"DIGITSI1" + struct.pack("<I", len(pixels)))
        for image, label in zip(pixels, labels):
            file.write(image.astype(np.uint8).tobytes() + bytes([int(label)]))


def main():
    rng = np.random.default_rng(SEED)
    digits = load_digits()
    order = rng.permutation(len(digits.data))
    pixels, labels = digits.data[order], digits.target[order]
    x = normalize(pixels).reshape(-1, 1, 8, 8)
    tensors = train(rng, x[TEST_IMAGES:], labels[TEST_IMAGES:])
    print(f"test accuracy {accuracy(tensors, x[:TEST_IMAGES], labels[:TEST_IMAGES]):.4f}")
    write(pathlib.Path(__file__).parent / "data", tensors, pixels[:TEST_IMAGES], labels[:TEST_IMAGES])


if __name__ == "__main__":
    main()
