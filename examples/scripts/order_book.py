"""A limit order book: orders arrive, match by price and time, get cancelled; trades, best quotes and what is left."""

import heapq
from dataclasses import dataclass

import numpy as np

BUY, SELL = 1, -1


@dataclass
class Order:
    id: int
    side: int
    price: int
    qty: int


class OrderBook:
    def __init__(self):
        self.bids = []
        self.asks = []
        self.orders = {}
        self.trades = []

    def _best(self, heap):
        while heap and (heap[0][1] not in self.orders or self.orders[heap[0][1]].qty == 0):
            heapq.heappop(heap)
        return self.orders[heap[0][1]] if heap else None

    def best_bid(self):
        return self._best(self.bids)

    def best_ask(self):
        return self._best(self.asks)

    def submit(self, order):
        other = self.asks if order.side == BUY else self.bids
        while order.qty > 0:
            best = self._best(other)
            if best is None or (best.price - order.price) * order.side > 0:
                break
            qty = min(order.qty, best.qty)
            self.trades.append((best.id, order.id, best.price, qty))
            order.qty -= qty
            best.qty -= qty
            if best.qty == 0:
                del self.orders[best.id]
        if order.qty > 0:
            self.orders[order.id] = order
            if order.side == BUY:
                heapq.heappush(self.bids, (-order.price, order.id))
            else:
                heapq.heappush(self.asks, (order.price, order.id))

    def cancel(self, order_id):
        try:
            del self.orders[order_id]
        except KeyError:
            return False
        return True


def main(sides, prices, quantities, cancels):
    book = OrderBook()
    spreads = []
    cancelled = 0
    for i in range(len(sides)):
        book.submit(Order(i, int(sides[i]), int(prices[i]), int(quantities[i])))
        if cancels[i] >= 0:
            cancelled += book.cancel(int(cancels[i]))
        bid, ask = book.best_bid(), book.best_ask()
        if bid is not None and ask is not None:
            spreads.append(ask.price - bid.price)

    trades = np.array(book.trades)
    vwap = (trades[:, 2] * trades[:, 3]).sum() / trades[:, 3].sum()
    depth = {}
    for o in book.orders.values():
        depth[o.price] = depth.get(o.price, 0) + o.side * o.qty
    return trades, vwap, np.mean(spreads), cancelled, dict(sorted(depth.items()))


def inputs(seed=0):
    rng = np.random.default_rng(seed)
    n = 4000
    sides = rng.choice([BUY, SELL], n)
    mid = 1000 + np.cumsum(rng.integers(-1, 2, n))
    prices = mid - sides * rng.integers(-2, 10, n)
    cancels = np.where(rng.random(n) < 0.3, rng.integers(0, n, n), -1)
    return sides, prices, rng.integers(1, 100, n), np.minimum(cancels, np.arange(n))


if __name__ == "__main__":
    trades, vwap, spread, cancelled, depth = main(*inputs())
    print(
        len(trades), "trades, vwap", vwap, "mean spread", spread, "cancelled", cancelled, "levels", len(depth)
    )
