"""Plays Minesweeper by the two simple rules and flood fill, and guesses the least likely mine when they are stuck."""

import numpy as np


def neighbours(r, c, shape):
    for dr in (-1, 0, 1):
        for dc in (-1, 0, 1):
            if (dr or dc) and 0 <= r + dr < shape[0] and 0 <= c + dc < shape[1]:
                yield r + dr, c + dc


def count_mines(mines):
    padded = np.pad(mines.astype(int), 1)
    total = np.zeros(mines.shape, dtype=int)
    for dr in range(3):
        for dc in range(3):
            total += padded[dr : dr + mines.shape[0], dc : dc + mines.shape[1]]
    return total - mines


class Game:
    UNKNOWN = -1
    FLAG = -2

    def __init__(self, mines):
        self.mines = mines
        self.counts = count_mines(mines)
        self.view = np.full(mines.shape, self.UNKNOWN)
        self.lost = False

    def open(self, r, c):
        if self.mines[r, c]:
            self.lost = True
            return
        stack = [(r, c)]
        while stack:
            r, c = stack.pop()
            if self.view[r, c] != self.UNKNOWN:
                continue
            self.view[r, c] = self.counts[r, c]
            if self.counts[r, c] == 0:
                stack.extend(neighbours(r, c, self.view.shape))

    def won(self):
        return np.all((self.view >= 0) | self.mines)


def deduce(game):
    progress = False
    for r, c in np.argwhere(game.view > 0):
        around = list(neighbours(r, c, game.view.shape))
        unknown = [p for p in around if game.view[p] == Game.UNKNOWN]
        if not unknown:
            continue
        flags = sum(game.view[p] == Game.FLAG for p in around)
        if game.view[r, c] - flags == len(unknown):
            for p in unknown:
                game.view[p] = Game.FLAG
            progress = True
        elif game.view[r, c] == flags:
            for p in unknown:
                game.open(*p)
            progress = True
    return progress


def guess(game, n_mines):
    unknown = game.view == Game.UNKNOWN
    left = n_mines - np.sum(game.view == Game.FLAG)
    risk = np.where(unknown, left / max(unknown.sum(), 1), np.inf)
    for r, c in np.argwhere(game.view > 0):
        around = list(neighbours(r, c, game.view.shape))
        hidden = [p for p in around if unknown[p]]
        if hidden:
            p_mine = (game.view[r, c] - sum(game.view[p] == Game.FLAG for p in around)) / len(hidden)
            for p in hidden:
                risk[p] = max(risk[p], p_mine)
    return np.unravel_index(np.argmin(risk), risk.shape)


def main(boards):
    won = 0
    guesses = []
    views = []
    for mines in boards:
        game = Game(mines)
        game.open(0, 0)
        n = 0
        while not game.lost and not game.won():
            if not deduce(game):
                game.open(*guess(game, mines.sum()))
                n += 1
        won += not game.lost
        guesses.append(n)
        views.append(game.view)
    return won, guesses, np.array(views)


def inputs(seed=0):
    rng = np.random.default_rng(seed)
    boards = rng.random((6, 12, 16)) < 0.14
    boards[:, :2, :2] = False
    return (boards,)


if __name__ == "__main__":
    won, guesses, views = main(*inputs())
    print("won", won, "of", len(guesses), "guesses", guesses)
