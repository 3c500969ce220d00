"""A three-band equaliser of cascaded biquads, run sample by sample; band energies before and after."""

import itertools
import math

import numpy as np


class Biquad:
    def __init__(self, b, a):
        self.b = [x / a[0] for x in b]
        self.a = [x / a[0] for x in a]
        self.reset()

    def reset(self):
        self.z1 = 0.0
        self.z2 = 0.0

    def step(self, x):
        y = self.b[0] * x + self.z1
        self.z1 = self.b[1] * x - self.a[1] * y + self.z2
        self.z2 = self.b[2] * x - self.a[2] * y
        return y

    @classmethod
    def peaking(cls, freq, gain_db, q, fs):
        amp = 10 ** (gain_db / 40)
        w = 2 * math.pi * freq / fs
        alpha = math.sin(w) / (2 * q)
        b = [1 + alpha * amp, -2 * math.cos(w), 1 - alpha * amp]
        a = [1 + alpha / amp, -2 * math.cos(w), 1 - alpha / amp]
        return cls(b, a)

    @classmethod
    def lowpass(cls, freq, q, fs):
        w = 2 * math.pi * freq / fs
        alpha = math.sin(w) / (2 * q)
        c = math.cos(w)
        return cls([(1 - c) / 2, 1 - c, (1 - c) / 2], [1 + alpha, -2 * c, 1 - alpha])


class Equaliser:
    def __init__(self, fs, bands):
        self.filters = [Biquad.peaking(f, g, q, fs) for f, g, q in bands]
        self.filters.append(Biquad.lowpass(0.45 * fs, 0.707, fs))

    def process(self, signal):
        out = np.empty(len(signal))
        for n, x in enumerate(signal):
            for f in self.filters:
                x = f.step(x)
            out[n] = x
        return out


def band_energy(x, fs, edges):
    power = np.abs(np.fft.rfft(x)) ** 2 / len(x)
    freqs = np.fft.rfftfreq(len(x), 1 / fs)
    return [power[(freqs >= lo) & (freqs < hi)].sum() for lo, hi in itertools.pairwise(edges)]


def main(signal, fs):
    bands = [(120.0, 6.0, 0.8), (900.0, -9.0, 1.0), (2500.0, 3.0, 1.2)]
    eq = Equaliser(fs, bands)
    out = eq.process(signal)
    edges = [0, 300, 1500, fs / 2]
    return out, band_energy(signal, fs, edges), band_energy(out, fs, edges)


def inputs(seed=0):
    rng = np.random.default_rng(seed)
    fs = 8000
    t = np.arange(12000) / fs
    x = np.sin(2 * np.pi * 110 * t) + 0.6 * np.sin(2 * np.pi * 880 * t) + 0.2 * rng.standard_normal(len(t))
    return x, fs


if __name__ == "__main__":
    out, before, after = main(*inputs())
    for b, a in zip(before, after):
        print(f"{10 * math.log10(a / b):+.2f} dB")
