"""Pitch of a melody, frame by frame, with the YIN difference function; the notes heard and how long each lasts."""

import numpy as np

NOTES = ["C", "C#", "D", "D#", "E", "F", "F#", "G", "G#", "A", "A#", "B"]


def difference(frame, max_lag):
    n = len(frame) - max_lag
    d = np.zeros(max_lag)
    for lag in range(1, max_lag):
        diff = frame[:n] - frame[lag : lag + n]
        d[lag] = np.sum(diff**2)
    return d


def cumulative_mean(d):
    out = np.ones_like(d)
    running = 0.0
    for lag in range(1, len(d)):
        running += d[lag]
        if running > 0:
            out[lag] = d[lag] * lag / running
    return out


def pick_lag(cmnd, min_lag, threshold):
    lag = min_lag
    while lag < len(cmnd) - 1:
        if cmnd[lag] < threshold:
            while lag + 1 < len(cmnd) - 1 and cmnd[lag + 1] < cmnd[lag]:
                lag += 1
            # parabola through the minimum and its neighbours
            a, b, c = cmnd[lag - 1], cmnd[lag], cmnd[lag + 1]
            denom = a - 2 * b + c
            shift = 0.5 * (a - c) / denom if abs(denom) > 1e-12 else 0.0
            return lag + shift
        lag += 1
    return None


def midi(f):
    return round(69 + 12 * np.log2(f / 440.0))


def main(x, fs, frame_len=1024, hop=256, threshold=0.15):
    pitches = []
    for start in range(0, len(x) - frame_len + 1, hop):
        frame = x[start : start + frame_len]
        if np.sqrt(np.mean(frame**2)) < 0.02:
            pitches.append(0.0)
            continue
        cm = cumulative_mean(difference(frame, 400))
        lag = pick_lag(cm, 20, threshold)
        pitches.append(fs / lag if lag is not None else 0.0)

    runs = []
    for f in pitches:
        m = midi(f) if f > 0 else -1
        if runs and runs[-1][0] == m:
            runs[-1][1] += 1
        else:
            runs.append([m, 1])
    melody = [m for m, count in runs if m >= 0 and count >= 3]
    return np.array(pitches), runs, melody


def inputs(seed=0):
    rng = np.random.default_rng(seed)
    fs = 8000
    parts = []
    for m in rng.integers(57, 77, 8):
        f = 440.0 * 2 ** ((m - 69) / 12)
        t = np.arange(2400) / fs
        tone = sum(np.sin(2 * np.pi * f * k * t) / k for k in (1, 2, 3))
        parts.append(tone * np.exp(-2 * t))
        parts.append(np.zeros(1200))
    x = np.concatenate(parts)
    return 0.4 * x + 0.002 * rng.standard_normal(len(x)), fs


if __name__ == "__main__":
    pitches, runs, melody = main(*inputs())
    print(" ".join(f"{NOTES[m % 12]}{m // 12 - 1}" for m in melody))
