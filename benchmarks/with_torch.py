"""The models of `gradients.py` in PyTorch: the same layers, weights, batches and element type, eager and compiled.

`torch.compile` gets the loss; the way back is what it makes of that. PyTorch uses as many threads as there are
processors, as XLA does.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
import train_digits
import vgg19
from torch.nn import functional

Loss = Callable[..., Any]


def tensors(arrays: Sequence[Any]) -> list[torch.Tensor]:
    """The weights as leaves of a tape: kernels of convolutions with their channels first."""
    torch.set_num_threads(len(os.sched_getaffinity(0)))
    found = []
    for array in arrays:
        values = np.array(array)
        values = np.ascontiguousarray(values.transpose(3, 2, 0, 1)) if values.ndim == 4 else values
        found.append(torch.from_numpy(values).requires_grad_())
    return found


def pictures(images: Any) -> torch.Tensor:
    """Images with their channels first."""
    return torch.from_numpy(np.ascontiguousarray(np.array(images).transpose(0, 3, 1, 2)))


def flattened(x: torch.Tensor) -> torch.Tensor:
    """All but the batch in one axis, in the order that the weights of the dense layers have."""
    return x.permute(0, 2, 3, 1).reshape(x.shape[0], -1)


def vgg_loss(model: Any) -> Loss:
    """`vgg19.total` as a function of the list of tensors and the images."""
    layers = [type(layer) for layer in model.layers]
    relu = [getattr(layer, "relu", False) for layer in model.layers]

    def loss(weights: list[torch.Tensor], x: torch.Tensor) -> torch.Tensor:
        following = iter(weights)
        for layer, bends in zip(layers, relu):
            if layer is vgg19.Conv:
                x = functional.conv2d(x, next(following), next(following), padding=1)
            elif layer is vgg19.MaxPool:
                x = functional.max_pool2d(x, 2)
            elif layer is vgg19.Flatten:
                x = flattened(x)
            else:
                x = x @ next(following) + next(following)
            x = functional.relu(x) if bends else x
        return torch.softmax(x, dim=1).sum()

    return loss


def digits_loss(weights: list[torch.Tensor], x: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """`train_digits.loss` of the list of tensors."""
    *convolutions, hidden, hidden_bias, output, output_bias = weights
    for i in range(0, len(convolutions), 2):
        x = functional.relu(functional.conv2d(x, convolutions[i], convolutions[i + 1], padding=1))
        if i % 4 == 2:
            x = functional.max_pool2d(x, 2)
    x = functional.relu(flattened(x) @ hidden + hidden_bias)
    return functional.cross_entropy(x @ output + output_bias, labels)


def adam(weights: Any, slopes: Any, means: Any, squares: Any, scale: torch.Tensor) -> None:
    """One step of Adam, in place."""
    for weight, slope, mean, square in zip(weights, slopes, means, squares):
        mean.mul_(0.9).add_(slope, alpha=0.1)
        square.mul_(0.999).addcmul_(slope, slope, value=0.001)
        weight.sub_(scale * mean / (square.sqrt() + 1e-8))


def gradient(loss: Loss, model: Any, images: Any) -> Callable[[], Any]:
    """What computes the gradient of `sum(model(x))`."""
    weights, batch = tensors(vgg19.weights(model)), pictures(images)
    return lambda: torch.autograd.grad(loss(weights, batch), weights)


def training(compiled: bool, epochs: int) -> Callable[[], Any]:
    """What runs the training loop of `train_digits` from its beginning."""
    arguments, _ = train_digits.start()
    network, (images, labels), (held_out, held_labels) = arguments[0], arguments[3], arguments[4]
    initial = [array for layer in network.layers() for array in (layer.weight, layer.bias)]
    data, names = pictures(images), torch.from_numpy(np.array(labels)).long()
    validation = pictures(held_out), torch.from_numpy(np.array(held_labels)).long()
    loss = torch.compile(digits_loss) if compiled else digits_loss
    update = torch.compile(adam) if compiled else adam

    def run() -> list[torch.Tensor]:
        weights = tensors(initial)
        means, squares = [[torch.zeros_like(w) for w in weights] for _ in range(2)]
        count = 0
        for epoch in range(epochs):
            order = torch.randperm(len(data))[: len(data) // 64 * 64].reshape(-1, 64)
            losses = 0.0
            for rows in order:
                count += 1
                value = loss(weights, data[rows], names[rows])
                slopes = torch.autograd.grad(value, weights)
                scale = 2e-3 * 0.95**epoch * (1 - 0.999**count) ** 0.5 / (1 - 0.9**count)
                with torch.no_grad():
                    update(weights, slopes, means, squares, torch.tensor(scale))
                losses += value.item()
            with torch.no_grad():
                loss(weights, *validation)
        return weights

    return run


def compiled_loss(model: Any) -> Loss:
    """The loss of VGG19 under `torch.compile`."""
    made: Loss = torch.compile(vgg_loss(model))
    return made
