"""Decodes the keys of a telephone keypad from audio with the Goertzel algorithm."""

import numpy as np

ROWS = [697, 770, 852, 941]
COLS = [1209, 1336, 1477, 1633]
KEYS = ["123A", "456B", "789C", "*0#D"]


def goertzel(samples, freq, fs):
    w = 2 * np.pi * freq / fs
    coeff = 2 * np.cos(w)
    s1 = s2 = 0.0
    for x in samples:
        s0 = x + coeff * s1 - s2
        s2 = s1
        s1 = s0
    return s1 * s1 + s2 * s2 - coeff * s1 * s2


def classify(frame, fs, threshold):
    rows = [goertzel(frame, f, fs) for f in ROWS]
    cols = [goertzel(frame, f, fs) for f in COLS]
    r = int(np.argmax(rows))
    c = int(np.argmax(cols))
    if rows[r] < threshold or cols[c] < threshold:
        return -1
    # the strongest tone has to stand out of its group
    if sum(rows) > 2 * rows[r] or sum(cols) > 2 * cols[c]:
        return -1
    return 4 * r + c


def main(audio, fs, frame=205):
    threshold = 0.05 * frame**2
    codes = []
    previous = -1
    for i in range(0, len(audio) - frame, frame):
        code = classify(audio[i : i + frame], fs, threshold)
        if code != previous and code >= 0:
            codes.append(code)
        previous = code
    return codes


def inputs(seed=0):
    rng = np.random.default_rng(seed)
    fs = 8000
    pieces = []
    for code in rng.integers(0, 16, 12):
        t = np.arange(700) / fs
        tone = np.sin(2 * np.pi * ROWS[code // 4] * t) + np.sin(2 * np.pi * COLS[code % 4] * t)
        pieces += [tone, np.zeros(500)]
    audio = np.concatenate(pieces)
    return audio + 0.1 * rng.standard_normal(len(audio)), fs


if __name__ == "__main__":
    codes = main(*inputs())
    print("".join(KEYS[c // 4][c % 4] for c in codes))
