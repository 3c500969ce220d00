"""Assigns workers to the jobs they can do: maximum bipartite matching by augmenting paths, and Hall's obstacle."""

import numpy as np


def max_matching(can):
    n_workers, n_jobs = can.shape
    job_of = [None] * n_workers
    worker_of = [None] * n_jobs

    def augment(w, visited):
        for j in range(n_jobs):
            if not can[w, j] or j in visited:
                continue
            visited.add(j)
            if worker_of[j] is None or augment(worker_of[j], visited):
                worker_of[j] = w
                job_of[w] = j
                return True
        return False

    size = 0
    for w in range(n_workers):
        if augment(w, set()):
            size += 1
    return size, job_of, worker_of


def obstacle(can, job_of, worker_of):
    """Workers who together know too few jobs: all that an unmatched worker reaches by alternating paths."""
    workers = {w for w, j in enumerate(job_of) if j is None}
    jobs = set()
    grew = True
    while grew:
        grew = False
        for w in sorted(workers):
            for j in np.flatnonzero(can[w]):
                if j not in jobs:
                    jobs.add(int(j))
                    grew = True
                    if worker_of[j] is not None:
                        workers.add(worker_of[j])
    return sorted(workers), sorted(jobs)


def main(can):
    size, job_of, worker_of = max_matching(can)
    workers, jobs = obstacle(can, job_of, worker_of)
    return {
        "size": size,
        "job_of": [-1 if j is None else j for j in job_of],
        "workers": workers,
        "jobs": jobs,
    }


def inputs(seed=0):
    rng = np.random.default_rng(seed)
    can = rng.random((220, 220)) < 0.012
    return (can,)


if __name__ == "__main__":
    result = main(*inputs())
    print(result["size"], "matched;", len(result["workers"]), "workers share", len(result["jobs"]), "jobs")
