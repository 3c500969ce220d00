import numpy as np


def f(x):
    times = [0.0]
    while times[-1] < 10.0:
        step = x[len(times) % 3]
        if step == 0:
            break
        times.append(times[-1] + step)
    return np.array(times)


def rewritten(x):
    times, count = np.zeros(64), 1
    while times[count - 1] < 10.0:
        step = x[count % 3]
        if step == 0:
            break
        times[count] = times[count - 1] + step
        count += 1
    return times, count


arguments = (np.array([1.5, 2.0, 0.5]),)
