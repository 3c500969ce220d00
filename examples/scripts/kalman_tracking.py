"""Tracks a moving object in the plane with a Kalman filter that rejects outliers and survives missing fixes."""

from dataclasses import dataclass

import numpy as np


@dataclass
class Track:
    x: np.ndarray
    P: np.ndarray


class KalmanFilter:
    def __init__(self, dt, accel_noise, meas_noise):
        self.F = np.eye(4)
        self.F[0, 2] = self.F[1, 3] = dt
        G = np.array([[dt**2 / 2, 0], [0, dt**2 / 2], [dt, 0], [0, dt]])
        self.Q = G @ G.T * accel_noise**2
        self.H = np.zeros((2, 4))
        self.H[0, 0] = self.H[1, 1] = 1
        self.R = np.eye(2) * meas_noise**2

    def predict(self, track):
        track.x = self.F @ track.x
        track.P = self.F @ track.P @ self.F.T + self.Q

    def update(self, track, z, gate):
        innovation = z - self.H @ track.x
        S = self.H @ track.P @ self.H.T + self.R
        S_inv = np.linalg.inv(S)
        d2 = innovation @ S_inv @ innovation
        if d2 > gate:
            return False, d2
        K = track.P @ self.H.T @ S_inv
        track.x = track.x + K @ innovation
        track.P = (np.eye(4) - K @ self.H) @ track.P
        return True, d2


def main(fixes, dt=0.1, gate=13.8):
    kf = KalmanFilter(dt, accel_noise=2.0, meas_noise=0.5)
    first = fixes[~np.isnan(fixes[:, 0])][0]
    track = Track(np.array([first[0], first[1], 0.0, 0.0]), np.diag([1.0, 1.0, 25.0, 25.0]))
    path = np.zeros((len(fixes), 4))
    rejected = []
    missing = 0
    for k, z in enumerate(fixes):
        kf.predict(track)
        if np.isnan(z).any():
            missing += 1
        else:
            ok, _ = kf.update(track, z, gate)
            if not ok:
                rejected.append(k)
        path[k] = track.x
    return path, rejected, missing, np.sqrt(np.diag(track.P))


def inputs(seed=0):
    rng = np.random.default_rng(seed)
    n = 600
    t = np.arange(n) * 0.1
    truth = np.stack([20 * np.cos(0.15 * t), 12 * np.sin(0.3 * t)], axis=1)
    fixes = truth + 0.5 * rng.standard_normal((n, 2))
    fixes[rng.random(n) < 0.1] = np.nan
    outliers = rng.random(n) < 0.03
    fixes[outliers] += rng.uniform(8, 20, (outliers.sum(), 2))
    return (fixes,)


if __name__ == "__main__":
    path, rejected, missing, sigma = main(*inputs())
    print(f"{len(rejected)} rejected, {missing} missing, final sigma {sigma}")
