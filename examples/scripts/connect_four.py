"""Connect Four: alpha-beta search to a fixed depth plays a whole game against itself, from a random opening."""

import numpy as np

ROWS, COLS = 6, 7
WIN = 100000


def legal(board):
    order = [3, 2, 4, 1, 5, 0, 6]
    return [c for c in order if board[0, c] == 0]


def drop(board, col, player):
    for r in range(ROWS - 1, -1, -1):
        if board[r, col] == 0:
            board[r, col] = player
            return r
    raise ValueError("column is full")


def wins(board, r, c):
    player = board[r, c]
    for dr, dc in ((0, 1), (1, 0), (1, 1), (1, -1)):
        count = 1
        for sign in (1, -1):
            y, x = r + sign * dr, c + sign * dc
            while 0 <= y < ROWS and 0 <= x < COLS and board[y, x] == player:
                count += 1
                y += sign * dr
                x += sign * dc
        if count >= 4:
            return True
    return False


def windows():
    out = []
    for r in range(ROWS):
        for c in range(COLS):
            for dr, dc in ((0, 1), (1, 0), (1, 1), (1, -1)):
                if 0 <= r + 3 * dr < ROWS and 0 <= c + 3 * dc < COLS:
                    out.append([(r + k * dr) * COLS + c + k * dc for k in range(4)])
    return np.array(out)


def evaluate(board, lines, player):
    cells = board.ravel()[lines] * player
    mine = (cells == 1).sum(axis=1)
    theirs = (cells == -1).sum(axis=1)
    weights = np.array([0, 1, 4, 16, 0])
    score = weights[mine[theirs == 0]].sum() - weights[theirs[mine == 0]].sum()
    return int(score)


class Player:
    def __init__(self, depth):
        self.depth = depth
        self.lines = windows()
        self.nodes = 0

    def search(self, board, player, depth, alpha, beta):
        self.nodes += 1
        moves = legal(board)
        if not moves:
            return 0, None
        if depth == 0:
            return evaluate(board, self.lines, player), None
        best = None
        for c in moves:
            r = drop(board, c, player)
            if wins(board, r, c):
                value = WIN + depth
            else:
                value = -self.search(board, -player, depth - 1, -beta, -alpha)[0]
            board[r, c] = 0
            if best is None or value > alpha:
                best = c
                alpha = max(alpha, value)
            if alpha >= beta:
                break
        return alpha, best


def main(opening, depth):
    board = np.zeros((ROWS, COLS), dtype=int)
    player = 1
    for c in opening:
        drop(board, c, player)
        player = -player
    engine = Player(depth)
    moves = []
    winner = 0
    while True:
        value, c = engine.search(board, player, depth, -10 * WIN, 10 * WIN)
        if c is None:
            break
        r = drop(board, c, player)
        moves.append((c, value))
        if wins(board, r, c):
            winner = player
            break
        player = -player
    return board, winner, moves, engine.nodes


def inputs(seed=0):
    rng = np.random.default_rng(seed)
    return rng.integers(0, 7, 4), 4


if __name__ == "__main__":
    board, winner, moves, nodes = main(*inputs())
    print("\n".join("".join(".XO"[v] for v in row) for row in board))
    print("winner", winner, "after", len(moves), "moves and", nodes, "nodes")
