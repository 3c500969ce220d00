"""Bootstraps a zero curve from coupon bonds, then prices a portfolio on it: duration, convexity, yields to maturity."""

import numpy as np
from scipy.optimize import brentq


class Curve:
    def __init__(self):
        self.times = [0.0]
        self.log_df = [0.0]

    def add(self, t, df):
        self.times.append(t)
        self.log_df.append(np.log(df))

    def df(self, t):
        if t <= self.times[-1]:
            return np.exp(np.interp(t, self.times, self.log_df))
        slope = self.log_df[-1] / self.times[-1]
        return np.exp(slope * t)

    def zero_rate(self, t):
        return -np.log(self.df(t)) / t


def cashflows(maturity, coupon, freq=2):
    n = round(maturity * freq)
    flows = [((k + 1) / freq, coupon / freq) for k in range(n)]
    t, c = flows[-1]
    flows[-1] = (t, c + 100.0)
    return flows


def bootstrap(maturities, coupons, prices):
    curve = Curve()
    for maturity, coupon, price in zip(maturities, coupons, prices):
        flows = cashflows(maturity, coupon)
        known_until = curve.times[-1]
        last_log = curve.log_df[-1]

        def mispricing(log_df_end, flows=flows, price=price, known=known_until, last=last_log, end=maturity):
            pv = 0.0
            for t, c in flows:
                if t <= known:
                    pv += c * curve.df(t)
                else:
                    w = (t - known) / (end - known)
                    pv += c * np.exp((1 - w) * last + w * log_df_end)
            return pv - price

        root = brentq(mispricing, last_log - 2.0, last_log + 0.5, xtol=1e-14)
        curve.add(maturity, np.exp(root))
    return curve


def ytm(flows, price, guess=0.04):
    y = guess
    for _ in range(50):
        pv = sum(c * (1 + y / 2) ** (-2 * t) for t, c in flows)
        dpv = sum(-t * c * (1 + y / 2) ** (-2 * t - 1) for t, c in flows)
        step = (pv - price) / dpv
        y -= step
        if abs(step) < 1e-12:
            return y
    raise ArithmeticError("yield did not converge")


def main(maturities, coupons, prices, portfolio):
    curve = bootstrap(maturities, coupons, prices)
    zeros = np.array([curve.zero_rate(t) for t in maturities])
    values = []
    for maturity, coupon, amount in portfolio:
        flows = cashflows(maturity, coupon)
        pv = sum(c * curve.df(t) for t, c in flows)
        dur = sum(t * c * curve.df(t) for t, c in flows) / pv
        conv = sum(t * t * c * curve.df(t) for t, c in flows) / pv
        values.append((amount * pv / 100, dur, conv, ytm(flows, pv)))
    values = np.array(values)
    total = values[:, 0].sum()
    return zeros, values, total, np.average(values[:, 1], weights=values[:, 0])


def inputs(seed=0):
    rng = np.random.default_rng(seed)
    maturities = np.array([0.5, 1.0, 2.0, 3.0, 5.0, 7.0, 10.0, 20.0])
    coupons = np.array([0.0, 0.0, 2.5, 3.0, 3.25, 3.5, 3.75, 4.0])
    rates = 0.03 + 0.012 * (1 - np.exp(-maturities / 4)) + 0.0005 * rng.standard_normal(len(maturities))
    prices = []
    for T, c, r in zip(maturities, coupons, rates):
        prices.append(sum(cf * np.exp(-r * t) for t, cf in cashflows(T, c)))
    portfolio = [(float(rng.integers(1, 20)), float(rng.uniform(1, 6)), 5e4) for _ in range(40)]
    return maturities, coupons, np.array(prices), portfolio


if __name__ == "__main__":
    zeros, values, total, duration = main(*inputs())
    print("zero rates", np.round(100 * zeros, 3))
    print(f"portfolio {total:,.0f}, duration {duration:.2f} years")
