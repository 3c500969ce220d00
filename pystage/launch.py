"""`python -m pystage.launch`: runs a script as one of several processes that share JAX's devices.

    python -m pystage.launch --processes 2 train.py --epochs 10        both processes on this machine
    srun python -m pystage.launch train.py                             one process of a job of SLURM
    python -m pystage.launch --processes 8 --process 3 --coordinator host0:7000 train.py

Each process calls `jax.distributed.initialize`, which finds the others, and runs the script as `__main__`. Without
`--processes`, JAX takes all from the environment, as SLURM, Open MPI, Kubernetes and TPUs set it. With `--processes` alone
they are started on this machine, and all end when one of them fails.
"""

from __future__ import annotations

import argparse
import contextlib
import ipaddress
import os
import runpy
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

import jax

from .runtime.executables import jax_private

GRACE = 5.0
"""Seconds between the request that a process end and its end by force."""

_ELSEWHERE = "192.0.2.1"
"""An address of no machine (RFC 5737), to which the default route leads."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command with these arguments, by default those of the process; the exit status.

    The status is that of the process that failed first, 128 and the signal's number if a signal ended it.
    """
    parser = argparse.ArgumentParser(
        prog="python -m pystage.launch", description=(__doc__ or "").split("\n\n")[0]
    )
    parser.add_argument("--processes", type=int, metavar="N", help="how many there are")
    parser.add_argument("--process", type=int, metavar="I", help="which of them this one is, from 0")
    parser.add_argument("--coordinator", metavar="HOST:PORT", help="where the first process listens")
    parser.add_argument(
        "--address",
        metavar="HOST",
        help="the address of this machine at which the CPUs of other processes reach it (that from which it reaches the "
        "coordinator)",
    )
    parser.add_argument(
        "--heartbeat",
        type=int,
        default=30,
        metavar="SECONDS",
        help="without a sign of life for so long, a process counts as dead and the others end (30)",
    )
    parser.add_argument("script", type=Path)
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="those of the script")
    options = parser.parse_args(arguments)
    if (options.process is None) != (options.coordinator is None):
        parser.error("--process and --coordinator are given together")
    if options.process is not None and options.processes is None:
        parser.error("--process needs --processes")
    if not options.script.is_file():
        parser.error(f"no file {options.script}")
    if options.processes is not None and options.process is None:
        return _start_all(options)
    _run_one(options)
    return 0


def _start_all(options: argparse.Namespace) -> int:
    """Starts all processes on this machine and waits for them; ends the others when one fails."""
    with socket.socket() as probe:
        probe.bind(("localhost", 0))
        coordinator = f"localhost:{probe.getsockname()[1]}"
    command = [sys.executable, "-m", "pystage.launch", "--processes", str(options.processes)]
    command += ["--heartbeat", str(options.heartbeat), "--coordinator", coordinator]
    started = [
        subprocess.Popen([*command, "--process", str(i), str(options.script), *options.arguments])
        for i in range(options.processes)
    ]
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    with ThreadPoolExecutor(len(started)) as pool:  # a thread for each: which process failed first matters
        waiting = {pool.submit(process.wait): i for i, process in enumerate(started)}
        try:
            for ended in as_completed(waiting):
                if status := ended.result():
                    how = f"by {signal.Signals(-status).name}" if status < 0 else f"with status {status}"
                    print(
                        f"pystage.launch: process {waiting[ended]} was ended {how}; the others are, too",
                        file=sys.stderr,
                    )
                    return 128 - status if status < 0 else status
            return 0
        except KeyboardInterrupt:
            return 128 + signal.SIGINT
        finally:
            _end(started)


def _end(processes: Sequence[subprocess.Popen[bytes]]) -> None:
    """Ends those that still run."""
    for process in processes:
        process.terminate()
    deadline = time.monotonic() + GRACE
    for process in processes:
        try:
            process.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def own_address(coordinator: str) -> str | None:
    """The address of this machine that other processes reach, if it is known: that from which it reaches the coordinator.

    A name of this machine often stands for a loopback address here (127.0.1.1); then it is that of the default route.
    """
    host, _, port = coordinator.rpartition(":")
    host = host.strip("[]")
    local = host == "localhost"
    with contextlib.suppress(ValueError):
        local = ipaddress.ip_address(host).is_loopback
    for target in (host, _ELSEWHERE):
        with contextlib.suppress(OSError):
            family, kind, _, _, place = socket.getaddrinfo(target, port, type=socket.SOCK_DGRAM)[0]
            with socket.socket(family, kind) as probe:
                probe.connect(place)  # sends nothing: it chooses the route
                address: str = probe.getsockname()[0]
            if local or not ipaddress.ip_address(address).is_loopback:
                return address
    return None


def _run_one(options: argparse.Namespace) -> None:
    """Joins the other processes and runs the script; one that fails does not wait for the others."""
    if "JAX_CPU_COLLECTIVES_IMPLEMENTATION" not in os.environ:
        jax.config.update("jax_cpu_collectives_implementation", "gloo")
    in_pod = "KUBERNETES_SERVICE_HOST" in os.environ  # JAX would ask its API where all is known, too
    try:
        jax.distributed.initialize(
            options.coordinator,
            options.processes,
            options.process,
            cluster_detection_method="deactivate" if in_pod and options.process is not None else None,
            heartbeat_timeout_seconds=options.heartbeat,
        )
    except ValueError as error:
        sys.exit(
            f"pystage.launch: nothing says which processes there are: {error} Give --processes N for processes on this "
            "machine, or --processes, --process and --coordinator; the environment of SLURM, Open MPI, TPUs and Kubernetes "
            "jobs with an index says it."
        )
    address = options.address or own_address(jax_private.coordinator_address() or "")
    if address is not None and jax.config.jax_cpu_collectives_implementation == "gloo":
        jax_private.exchange_at(address)
    sys.argv = [str(options.script), *options.arguments]
    if not sys.flags.safe_path:
        sys.path[0] = str(options.script.resolve().parent)
    status: object = 1
    try:
        runpy.run_path(sys.argv[0], run_name="__main__")
        return
    except SystemExit as error:
        if not error.code:
            return
        status = error.code
        if not isinstance(status, int):
            print(status, file=sys.stderr)
    except BaseException as error:
        own = error.__traceback__
        while own is not None and own.tb_frame.f_code.co_filename != sys.argv[0]:
            own = own.tb_next
        sys.excepthook(type(error), error.with_traceback(own or error.__traceback__), own)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status if isinstance(status, int) else 1)  # what JAX does at the exit waits for all processes


if __name__ == "__main__":
    sys.exit(main())
