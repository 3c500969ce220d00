"""The network of `train_digits.py` learns on all devices of all processes, and goes on where it was ended.

In: scikit-learn's digits. Out: the loss of each epoch and how many images of the test set are told right, printed by the
first process; with `--checkpoints`, the state after each epoch, from which the next start goes on. The source of a step is
that of one device: the rows of a batch are spread over the mesh, the weights are on every device, and XLA's partitioner sums
the gradients. Each process holds the rows of its own devices only.

Run it: `python examples/data_parallel.py`, or on two processes of this machine
`python -m pystage.launch --processes 2 examples/data_parallel.py --checkpoints build/digits`
"""

from __future__ import annotations

import argparse
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import orbax.checkpoint as ocp
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P
from train_digits import Adam, digits, few_digits, loss, make_network

import pystage


def train_epoch(network, adam, images, labels, rate):
    """Trains `network` in place on batches, float32 `[steps, batch, 8, 8, 1]`; the mean loss, a float32 array."""
    total = jnp.zeros((), jnp.float32)
    for step in range(len(labels)):
        slope = pystage.value_and_grad(loss, has_aux=True)
        (value, _), gradient = slope(network, images[step], labels[step])
        adam.update(network, gradient, rate)
        total = total + value
    return total / len(labels)


def spread(array, sharding):
    """An array of all processes; each of them puts only the parts of its own devices there."""
    array = np.asarray(array)
    return jax.make_array_from_callback(array.shape, sharding, lambda part: array[part])


def batches(training, epoch, batch, rows):
    """Images and labels in the order of this epoch, `[steps, batch, ...]`, the batches over the devices of `rows`."""
    images, labels = map(np.asarray, training)
    order = np.random.default_rng(epoch).permutation(len(labels))
    order = order[: len(order) // batch * batch].reshape(-1, batch)
    return spread(images[order], rows), spread(labels[order], rows)


def networks(network, adam):
    """All networks of a training: that which learns, and Adam's means."""
    return network, adam.mean, adam.square


def state_of(network, adam):
    """What a checkpoint holds, as lists of arrays."""
    return {
        "weights": [
            [(layer.weight, layer.bias) for layer in each.layers()] for each in networks(network, adam)
        ],
        "steps": adam.steps,
    }


def put_state(network, adam, state):
    """Puts what `state_of` gave, or a copy of it, into a network and its optimiser."""
    for each, weights in zip(networks(network, adam), state["weights"], strict=True):
        for layer, (weight, bias) in zip(each.layers(), weights, strict=True):
            layer.weight, layer.bias = weight, bias
    adam.steps = int(state["steps"])


def one_epoch():
    """A small network and two batches of 16."""
    network, adam, _, (images, labels), *_ = few_digits()
    return network, adam, jnp.reshape(images[:32], (2, 16, 8, 8, 1)), jnp.reshape(labels[:32], (2, 16)), 2e-3


PROGRAMS = [(train_epoch, one_epoch)]
"""What the tests run: a function, and what makes its arguments."""


def main() -> None:
    """Trains, from the last checkpoint if there is one."""
    parser = argparse.ArgumentParser(description="Trains a network on all devices of all processes.")
    parser.add_argument(
        "--checkpoints", type=Path, help="the folder of the checkpoints, the same for all processes"
    )
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--batch", type=int, default=64, help="images, a multiple of the number of devices")
    parser.add_argument("--width", type=int, default=32, help="channels of the first convolutions")
    options = parser.parse_args()

    mesh = Mesh(np.array(jax.devices()), ("data",))
    everywhere, rows = NamedSharding(mesh, P()), NamedSharding(mesh, P(None, "data"))
    first = jax.process_index() == 0
    if first:
        print(f"{jax.process_count()} processes, {jax.device_count()} devices")

    training, _, (images, labels) = digits()
    network = make_network(width=options.width)
    adam = Adam(*(make_network(width=options.width, fill=0.0) for _ in range(2)))
    state = state_of(network, adam)
    put_state(network, adam, jax.tree.map(lambda x: spread(x, everywhere), state))

    manager, done = None, -1
    if options.checkpoints is not None:
        manager = ocp.CheckpointManager(
            options.checkpoints.resolve(), options=ocp.CheckpointManagerOptions(max_to_keep=2)
        )
        if manager.latest_step() is not None:
            done = manager.latest_step()
            put_state(
                network, adam, manager.restore(done, args=ocp.args.StandardRestore(state_of(network, adam)))
            )
            if first:
                print(f"goes on after epoch {done + 1}")

    staged = pystage.compile(train_epoch)
    for epoch in range(done + 1, options.epochs):
        value = staged(network, adam, *batches(training, epoch, options.batch, rows), 2e-3 * 0.95**epoch)
        if first:
            print(f"epoch {epoch + 1:2d}: loss {float(value):.6f}", flush=True)
        if manager is not None:
            manager.save(epoch, args=ocp.args.StandardSave(state_of(network, adam)))
    if manager is not None:
        manager.close()

    test = len(labels) // mesh.size * mesh.size
    split = NamedSharding(mesh, P("data"))
    _, hits = pystage.compile(loss)(network, spread(images[:test], split), spread(labels[:test], split))
    if first:
        print(f"{int(hits)} of {test} test images right")
        print(f"sum of all weights: {sum(float(np.sum(layer.weight)) for layer in network.layers()):.6f}")


if __name__ == "__main__":
    main()
