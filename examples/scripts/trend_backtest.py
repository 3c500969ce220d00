"""Backtest of crossing moving averages with a trailing stop and costs, over a grid of window lengths."""

from typing import NamedTuple

import numpy as np


class Result(NamedTuple):
    total: float
    sharpe: float
    drawdown: float
    trades: int


def moving_average(prices, n):
    c = np.cumsum(np.insert(prices, 0, 0.0))
    ma = np.full(len(prices), np.nan)
    ma[n - 1 :] = (c[n:] - c[:-n]) / n
    return ma


def ema(prices, n):
    alpha = 2 / (n + 1)
    out = [prices[0]]
    for p in prices[1:]:
        out.append(alpha * p + (1 - alpha) * out[-1])
    return np.array(out)


def backtest(prices, fast, slow, stop, cost):
    f = ema(prices, fast)
    s = moving_average(prices, slow)
    position = 0
    peak = 0.0
    trades = 0
    equity = [1.0]
    for t in range(1, len(prices)):
        r = prices[t] / prices[t - 1] - 1
        value = equity[-1] * (1 + position * r)
        if position:
            peak = max(peak, prices[t])
            if prices[t] < peak * (1 - stop) or f[t] < s[t]:
                position = 0
                value *= 1 - cost
                trades += 1
        elif not np.isnan(s[t - 1]) and f[t] > s[t] and f[t - 1] <= s[t - 1]:
            position = 1
            peak = prices[t]
            value *= 1 - cost
        equity.append(value)
    equity = np.array(equity)
    returns = np.diff(np.log(equity))
    sd = returns.std()
    sharpe = returns.mean() / sd * np.sqrt(252) if sd > 0 else 0.0
    drawdown = np.max(1 - equity / np.maximum.accumulate(equity))
    return Result(equity[-1] - 1, sharpe, drawdown, trades), equity


def main(prices, fasts, slows, stop=0.08, cost=0.001):
    results = {}
    best, best_equity = None, None
    for fast in fasts:
        for slow in slows:
            if fast >= slow:
                continue
            res, equity = backtest(prices, fast, slow, stop, cost)
            results[fast, slow] = tuple(res)
            if best is None or res.sharpe > results[best][1]:
                best = (fast, slow)
                best_equity = equity
    return best, results[best], best_equity, len(results)


def inputs(seed=0):
    rng = np.random.default_rng(seed)
    n = 1500
    drift = 0.0015 * np.sin(np.arange(n) / 90)
    prices = 50 * np.exp(np.cumsum(drift + 0.012 * rng.standard_normal(n)))
    return prices, [5, 10, 20, 40], [20, 50, 100, 200]


if __name__ == "__main__":
    best, result, equity, n = main(*inputs())
    print("best of", n, best, Result(*result))
