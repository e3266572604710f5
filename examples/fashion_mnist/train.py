#!/usr/bin/env python3
"""Trains the network of `weftile demo`: 784 pixels, 128 hidden units with relu, 10 classes, on Fashion-MNIST.

    python3 -m venv venv && venv/bin/pip install numpy
    venv/bin/python examples/fashion_mnist/train.py --data DIR

DIR holds the four `*-ubyte.gz` files of Fashion-MNIST (`weftile demo --data DIR --download` fetches the test set; the
training set lies beside it at the same address). Writes `weights.safetensors` beside this script: `w0 [128, 784]`, `b0 [128]`,
`w1 [10, 128]`, `b1 [10]`, so that `logits = relu(x @ w0.T + b0) @ w1.T + b1` for pixels divided by 255.

Adam with a cosine learning rate, label smoothing and an average of the weights over the last epochs. Half of each batch is
varied (mirrored, shifted by a pixel, another brightness, drawn as a flat silhouette), so that the network judges the outline
of a garment and not only its texture. The test set is only looked at once, at the end.
"""

import argparse
import gzip
import json
import pathlib
import struct

import numpy as np

HIDDEN = 128
SEED = 20


def read_idx(path):
    """An idx file: big-endian magic, extents, then bytes."""
    data = gzip.open(path).read()
    ndim = data[3]
    shape = struct.unpack(f">{ndim}I", data[4 : 4 + 4 * ndim])
    return np.frombuffer(data, np.uint8, offset=4 + 4 * ndim).reshape(shape)


def load(folder, part):
    images = read_idx(folder / f"{part}-images-idx3-ubyte.gz")
    labels = read_idx(folder / f"{part}-labels-idx1-ubyte.gz")
    return images.astype(np.float32) / np.float32(255), labels.astype(np.int64)


def vary(images, rng):
    """A copy of a batch `[N, 28, 28]` of which half is changed in ways that keep the class."""
    images = images.copy()
    half = len(images) // 2
    part = images[:half]
    mirrored = rng.random(half) < 0.5
    part[mirrored] = part[mirrored, :, ::-1]
    down, right = rng.integers(-1, 2, size=2)
    part[:] = np.roll(part, (down, right), axis=(1, 2))
    quarter = half // 2
    flat = (part[:quarter] > 0.15).astype(np.float32)
    part[:quarter] = flat * rng.uniform(0.4, 1.0, size=(quarter, 1, 1)).astype(np.float32)
    part[quarter:] *= rng.uniform(0.7, 1.0, size=(half - quarter, 1, 1)).astype(np.float32)
    return images


def forward(params, x):
    hidden = np.maximum(x @ params["w0"].T + params["b0"], 0)
    return hidden, hidden @ params["w1"].T + params["b1"]


def gradients(params, x, labels, smoothing, decay):
    """Of the mean cross entropy with smoothed labels, and of the squared weights."""
    hidden, logits = forward(params, x)
    logits -= logits.max(axis=1, keepdims=True)
    p = np.exp(logits)
    p /= p.sum(axis=1, keepdims=True)
    p -= np.float32(smoothing / 10)
    p[np.arange(len(labels)), labels] -= np.float32(1 - smoothing)
    p /= np.float32(len(labels))
    back = (p @ params["w1"]) * (hidden > 0)
    return {
        "w0": back.T @ x + np.float32(decay) * params["w0"],
        "b0": back.sum(axis=0),
        "w1": p.T @ hidden + np.float32(decay) * params["w1"],
        "b1": p.sum(axis=0),
    }


def train(images, labels, epochs, batch=128, rate=1e-3, smoothing=0.05, decay=1e-4):
    rng = np.random.default_rng(SEED)
    params = {
        "w0": (rng.standard_normal((HIDDEN, 784)) * np.sqrt(2 / 784)).astype(np.float32),
        "b0": np.zeros(HIDDEN, np.float32),
        "w1": (rng.standard_normal((10, HIDDEN)) * np.sqrt(2 / HIDDEN)).astype(np.float32),
        "b1": np.zeros(10, np.float32),
    }
    first = {name: np.zeros_like(p) for name, p in params.items()}
    second = {name: np.zeros_like(p) for name, p in params.items()}
    average = {name: p.copy() for name, p in params.items()}
    steps = len(images) // batch
    for epoch in range(epochs):
        order = rng.permutation(len(images))
        for step in range(steps):
            t = epoch * steps + step + 1
            now = rate * 0.5 * (1 + np.cos(np.pi * t / (epochs * steps)))
            chosen = order[step * batch : (step + 1) * batch]
            x = vary(images[chosen], rng).reshape(batch, 784)
            for name, g in gradients(params, x, labels[chosen], smoothing, decay).items():
                first[name] = np.float32(0.9) * first[name] + np.float32(0.1) * g
                second[name] = np.float32(0.999) * second[name] + np.float32(0.001) * g * g
                step_size = np.float32(now / (1 - 0.9**t))
                scale = np.float32(1 / (1 - 0.999**t))
                params[name] = params[name] - step_size * first[name] / (np.sqrt(second[name] * scale) + np.float32(1e-8))
                average[name] = np.float32(0.998) * average[name] + np.float32(0.002) * params[name]
        _, logits = forward(average, images.reshape(-1, 784))
        print(f"epoch {epoch + 1}: {np.mean(logits.argmax(axis=1) == labels):.4f} of the training set", flush=True)
    return average


def save_safetensors(path, tensors, metadata):
    """Header length, JSON header, then the bytes of all tensors."""
    header, offset = {"__metadata__": metadata}, 0
    for name, tensor in tensors.items():
        header[name] = {"dtype": "F32", "shape": list(tensor.shape), "data_offsets": [offset, offset + tensor.nbytes]}
        offset += tensor.nbytes
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for tensor in tensors.values():
            file.write(tensor.astype("<f4").tobytes())


def main():
    here = pathlib.Path(__file__).parent
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=pathlib.Path, required=True, help="folder with the *-ubyte.gz files")
    parser.add_argument("--epochs", type=int, default=60)
    parser.add_argument("--output", type=pathlib.Path, default=here / "weights.safetensors")
    args = parser.parse_args()
    images, labels = load(args.data, "train")
    params = train(images, labels, args.epochs)
    images, labels = load(args.data, "t10k")
    _, logits = forward(params, images.reshape(-1, 784))
    correct = int((logits.argmax(axis=1) == labels).sum())
    print(f"{correct} of {len(labels)} test images")
    metadata = {"made_by": "examples/fashion_mnist/train.py", "test_correct": str(correct)}
    save_safetensors(args.output, params, metadata)


if __name__ == "__main__":
    main()
