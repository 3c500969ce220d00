"""A small neural network with layer objects and momentum learns to tell two spirals apart; loss curve and accuracy."""

import numpy as np


class Dense:
    def __init__(self, n_in, n_out, rng):
        self.W = rng.standard_normal((n_in, n_out)) * np.sqrt(2.0 / n_in)
        self.b = np.zeros(n_out)
        self.vW = np.zeros_like(self.W)
        self.vb = np.zeros_like(self.b)

    def forward(self, x):
        self.x = x
        return x @ self.W + self.b

    def backward(self, grad):
        self.dW = self.x.T @ grad
        self.db = grad.sum(axis=0)
        return grad @ self.W.T

    def step(self, lr, momentum):
        self.vW = momentum * self.vW - lr * self.dW
        self.vb = momentum * self.vb - lr * self.db
        self.W += self.vW
        self.b += self.vb


class Tanh:
    def forward(self, x):
        self.y = np.tanh(x)
        return self.y

    def backward(self, grad):
        return grad * (1 - self.y**2)

    def step(self, lr, momentum):
        pass


def softmax_cross_entropy(logits, labels):
    z = logits - logits.max(axis=1, keepdims=True)
    p = np.exp(z) / np.exp(z).sum(axis=1, keepdims=True)
    n = len(labels)
    loss = -np.log(p[np.arange(n), labels] + 1e-12).mean()
    grad = p.copy()
    grad[np.arange(n), labels] -= 1
    return loss, grad / n


class Network:
    def __init__(self, sizes, rng):
        self.layers = []
        for i in range(len(sizes) - 1):
            self.layers.append(Dense(sizes[i], sizes[i + 1], rng))
            if i < len(sizes) - 2:
                self.layers.append(Tanh())

    def forward(self, x):
        for layer in self.layers:
            x = layer.forward(x)
        return x

    def train_batch(self, x, y, lr, momentum):
        loss, grad = softmax_cross_entropy(self.forward(x), y)
        for layer in reversed(self.layers):
            grad = layer.backward(grad)
        for layer in self.layers:
            layer.step(lr, momentum)
        return loss

    def accuracy(self, x, y):
        return np.mean(np.argmax(self.forward(x), axis=1) == y)


def main(X, y, epochs=60, batch=25, lr=0.1, momentum=0.9, seed=3):
    rng = np.random.default_rng(seed)
    net = Network([2, 24, 24, 2], rng)
    losses = []
    for epoch in range(epochs):
        order = rng.permutation(len(X))
        total = 0.0
        for start in range(0, len(X), batch):
            idx = order[start : start + batch]
            total += net.train_batch(X[idx], y[idx], lr, momentum) * len(idx)
        losses.append(total / len(X))
        if losses[-1] < 0.02:
            print("stopped early in epoch", epoch)
            break
        if epoch % 20 == 19:
            lr *= 0.5
    return np.array(losses), net.accuracy(X, y), net.layers[0].W


def inputs(seed=0):
    rng = np.random.default_rng(seed)
    n = 150
    t = np.sqrt(rng.random(n)) * 2.2 * np.pi
    X = np.concatenate([np.c_[t * np.cos(t), t * np.sin(t)], np.c_[-t * np.cos(t), -t * np.sin(t)]])
    X = X / 4 + 0.03 * rng.standard_normal(X.shape)
    return X, np.repeat([0, 1], n)


if __name__ == "__main__":
    losses, acc, _ = main(*inputs())
    print(f"loss {losses[0]:.3f} -> {losses[-1]:.3f} in {len(losses)} epochs, accuracy {acc:.3f}")
