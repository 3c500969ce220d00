"""The models of `gradients.py` and `models.py` in PyTorch: the same layers, weights, batches and element type.

Eager, and under `torch.compile`, which gets the loss; the way back is what it makes of that. PyTorch uses as many threads
as there are processors, as XLA does.

A model in PyTorch is the dataclass of the example with tensors in the place of arrays (`in_torch`).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
import train_digits
from layers import Adam, Conv, Dense, MaxPool, arrays_of, with_arrays
from torch.nn import functional

Loss = Callable[..., Any]


def tensor(array: Any) -> torch.Tensor:
    """An array as a tensor: kernels of convolutions with their channels first."""
    values = np.array(array)
    return torch.from_numpy(
        np.ascontiguousarray(values.transpose(3, 2, 0, 1)) if values.ndim == 4 else values
    )


def tensors(arrays: Sequence[Any]) -> list[torch.Tensor]:
    """The weights as leaves of a tape."""
    torch.set_num_threads(len(os.sched_getaffinity(0)))
    return [tensor(array).requires_grad_() for array in arrays]


def in_torch(model: Any) -> Any:
    """A model with tensors in the place of its arrays."""
    torch.set_num_threads(len(os.sched_getaffinity(0)))
    return with_arrays(model, tensor)


def leaves(model: Any) -> list[torch.Tensor]:
    """The tensors of a model that learn."""
    return [getattr(layer, name) for layer, name in arrays_of(model)]


def pictures(images: Any) -> torch.Tensor:
    """Images with their channels first."""
    return torch.from_numpy(np.ascontiguousarray(np.array(images).transpose(0, 3, 1, 2)))


def flattened(x: torch.Tensor) -> torch.Tensor:
    """All but the batch in one axis, in the order that the weights of the dense layers have."""
    return x.permute(0, 2, 3, 1).reshape(x.shape[0], -1)


def padded(x: torch.Tensor, size: int, stride: int, value: float = 0.0) -> torch.Tensor:
    """`x` with the edges that windows of `size` × `size` get from "SAME" in JAX: the smaller half of them before."""
    height, width = [max((-(-n // stride) - 1) * stride + size - n, 0) for n in x.shape[2:]]
    if not height and not width:
        return x
    edges = [width // 2, width - width // 2, height // 2, height - height // 2]
    return functional.pad(x, edges, value=value)


def conv(layer: Conv, x: torch.Tensor) -> torch.Tensor:
    """`layers.Conv`."""
    if layer.stride == 1:
        x = functional.conv2d(x, layer.weight, layer.bias, padding=layer.weight.shape[-1] // 2)
    else:
        x = padded(x, layer.weight.shape[-1], layer.stride)
        x = functional.conv2d(x, layer.weight, layer.bias, layer.stride)
    return functional.relu(x) if layer.relu else x


def max_pool(layer: MaxPool, x: torch.Tensor) -> torch.Tensor:
    """`layers.MaxPool`."""
    return functional.max_pool2d(padded(x, layer.size, layer.stride, -np.inf), layer.size, layer.stride)


def dense(layer: Dense, x: torch.Tensor) -> torch.Tensor:
    """`layers.Dense`."""
    x = x @ layer.weight + layer.bias
    return functional.relu(x) if layer.relu else x


def vgg(model: Any, x: torch.Tensor) -> torch.Tensor:
    """The scores of `vgg19.VGG`."""
    for layer in model.layers:
        if isinstance(layer, Conv):
            x = conv(layer, x)
        elif isinstance(layer, MaxPool):
            x = max_pool(layer, x)
        elif isinstance(layer, Dense):
            x = dense(layer, x)
        else:
            x = flattened(x)
    return x


def vgg_total(model: Any, x: torch.Tensor) -> torch.Tensor:
    """`vgg19.total`."""
    return torch.softmax(vgg(model, x), dim=1).sum()


def vgg_loss(model: Any, x: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """`vgg19.loss`."""
    return functional.cross_entropy(vgg(model, x), labels)


def normed_conv(layer: Any, x: torch.Tensor) -> torch.Tensor:
    """`resnet50.NormedConv` in training; the running variance is PyTorch's, n / (n - 1) times that of the batch."""
    x, norm = conv(layer.convolution, x), layer.norm
    state = norm.mean, norm.variance, norm.scale, norm.shift
    x = functional.batch_norm(x, *state, training=True, momentum=1 - norm.keep, eps=1e-5)
    return functional.relu(x) if layer.relu else x


def resnet_loss(model: Any, x: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """`resnet50.loss`."""
    x = max_pool(model.pool, normed_conv(model.stem, x))
    for block in model.blocks:
        y = x
        for layer in block.layers:
            y = normed_conv(layer, y)
        x = functional.relu(y + (x if block.projection is None else normed_conv(block.projection, x)))
    return functional.cross_entropy(dense(model.head, x.mean(dim=(2, 3))), labels)


def layer_norm(layer: Any, x: torch.Tensor) -> torch.Tensor:
    """`roberta.LayerNorm`."""
    return functional.layer_norm(x, x.shape[-1:], layer.scale, layer.shift, 1e-5)


def attention(layer: Any, x: torch.Tensor) -> torch.Tensor:
    """`roberta.Attention`."""
    parts = [
        dense(each, x).unflatten(-1, (layer.heads, -1)).transpose(1, 2)
        for each in (layer.query, layer.key, layer.value)
    ]
    met = functional.scaled_dot_product_attention(*parts)
    return dense(layer.output, met.transpose(1, 2).flatten(2))


def roberta_loss(
    model: Any, tokens: torch.Tensor, labels: torch.Tensor, counts: torch.Tensor
) -> torch.Tensor:
    """`roberta.loss` without dropout."""
    x = layer_norm(model.norm, functional.embedding(tokens, model.tokens) + model.places[: tokens.shape[1]])
    for encoder in model.encoders:
        x = layer_norm(encoder.attention_norm, x + attention(encoder.attention, x))
        y = dense(encoder.output, functional.gelu(dense(encoder.hidden, x)))
        x = layer_norm(encoder.norm, x + y)
    x = layer_norm(model.transform_norm, functional.gelu(dense(model.transform, x)))
    scores = (x @ model.tokens.T + model.bias).flatten(0, 1)
    by_place = functional.cross_entropy(scores, labels.flatten(), reduction="none")
    return (by_place * counts.flatten()).sum() / counts.sum()


LOSSES: dict[str, Loss] = {"resnet50": resnet_loss, "roberta": roberta_loss, "vgg19": vgg_loss}
"""The loss of each module of `examples/models`."""


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


def momentum_step(optimizer: Any, weights: Any, slopes: Any, rate: float) -> None:
    """`layers.Momentum.update`, in place."""
    for weight, slope, velocity in zip(weights, slopes, leaves(optimizer.velocity)):
        velocity.mul_(optimizer.momentum).add_(slope).add_(weight, alpha=optimizer.decay)
        weight.sub_(velocity, alpha=rate)


def adam_step(optimizer: Any, weights: Any, slopes: Any, rate: float) -> None:
    """`layers.Adam.update`, in place."""
    optimizer.steps += 1
    of_mean, of_square = optimizer.keep_mean, optimizer.keep_square
    scale = rate * (1 - of_square**optimizer.steps) ** 0.5 / (1 - of_mean**optimizer.steps)
    kept = leaves(optimizer.mean), leaves(optimizer.square)
    for weight, slope, mean, square in zip(weights, slopes, *kept):
        mean.mul_(of_mean).add_(slope, alpha=1 - of_mean)
        square.mul_(of_square).addcmul_(slope, slope, value=1 - of_square)
        weight.mul_(1 - rate * optimizer.decay)
        weight.addcdiv_(mean, square.sqrt().add_(optimizer.epsilon), value=-scale)


def train_step(loss: Loss, arguments: Sequence[Any]) -> Callable[[], float]:
    """What makes one step of training with the arguments of a `train_step` of `examples/models`, and gives the loss."""
    model, optimizer = [in_torch(part) for part in arguments[:2]]
    *batch, rate = arguments[2:]
    inputs = [pictures(each) if each.ndim == 4 else torch.from_numpy(np.array(each)) for each in batch]
    inputs = [each.long() if each.dtype == torch.int32 else each for each in inputs]
    weights = [weight.requires_grad_() for weight in leaves(model)]
    update = adam_step if isinstance(optimizer, Adam) else momentum_step

    def run() -> float:
        value = loss(model, *inputs)
        slopes = torch.autograd.grad(value, weights)
        with torch.no_grad():
            update(optimizer, weights, slopes, rate)
        return value.item()

    return run


def gradient(loss: Loss, model: Any, images: Any) -> Callable[[], Any]:
    """What computes the gradient of a loss of the model by all weights."""
    made, batch = in_torch(model), pictures(images)
    weights = [weight.requires_grad_() for weight in leaves(made)]
    return lambda: torch.autograd.grad(loss(made, batch), weights)


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


def compiled_loss(loss: Loss) -> Loss:
    """A loss under `torch.compile`."""
    made: Loss = torch.compile(loss)
    return made
