"""`python -m pystage.launch`: processes on this machine train alike, end together, and go on from checkpoints."""

from __future__ import annotations

import ipaddress
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sampling import ALL

from pystage.launch import main, own_address

EXAMPLE = Path(__file__).parents[2] / "examples" / "data_parallel.py"

SCRIPT = """
import os, signal, sys
import jax, jax.numpy as jnp, numpy as np, pystage
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

def loss(w, x):
    return jnp.mean((x @ w - 1.0) ** 2)

@pystage.compile(fallback="error")
def train(w, x):
    losses = np.zeros(5, np.float32)
    for i in range(5):
        losses[i], slope = pystage.value_and_grad(loss)(w, x)
        w = w - 0.1 * slope
    return losses

rows = NamedSharding(Mesh(np.array(jax.devices()), ("data",)), P("data"))
x = np.sin(np.arange(24, dtype=np.float32)).reshape(8, 3)
losses = train(jnp.zeros(3), jax.make_array_from_callback(x.shape, rows, lambda part: x[part]))
print(f"\\nlosses of {jax.process_count()}: {losses.tolist()}", flush=True)  # gloo writes to the same stream
if jax.process_index() == 1:
    if sys.argv[1] == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    if sys.argv[1] == "raise":
        raise ValueError("a bad batch")
train(jnp.zeros(3), jax.make_array_from_callback(x.shape, rows, lambda part: x[part]))
"""


def launch(*arguments: object) -> list[str]:
    """The command that starts two processes."""
    return [sys.executable, "-m", "pystage.launch", "--processes", "2", *map(str, arguments)]


def run(command: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


def test_one_that_is_killed_ends_the_others_and_losses_are_those_of_one_process(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    done = run(launch(script, "kill"))
    assert done.returncode == 128 + signal.SIGKILL, done.stderr
    assert "process 1 was ended by SIGKILL; the others are, too" in done.stderr
    alone = run([sys.executable, str(script), "none"])
    found, (wanted,) = (re.findall(r"losses of (\d): \[([^\]]*)\]", each.stdout) for each in (done, alone))
    assert [count for count, _ in found] == ["2", "2"], done.stdout
    assert wanted[0] == "1"
    for _, losses in found:
        np.testing.assert_allclose(
            np.fromstring(losses, sep=","), np.fromstring(wanted[1], sep=","), rtol=1e-6
        )


def test_wrong_arguments_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments, text in (
        (["no_such.py"], "no file no_such.py"),
        (["--process", "1", __file__], "--process and --coordinator are given together"),
        (["--process", "1", "--coordinator", "localhost:7000", __file__], "--process needs --processes"),
    ):
        with pytest.raises(SystemExit):
            main(arguments)
        assert text in capsys.readouterr().err


def test_the_address_that_others_reach(monkeypatch: pytest.MonkeyPatch) -> None:
    """A name of this machine stands for a loopback address in the hosts file of many: no other machine reaches that."""
    assert own_address("localhost:7000") in ("127.0.0.1", "::1")
    assert own_address("127.0.0.1:7000") == "127.0.0.1"
    known = socket.getaddrinfo

    def resolve(host: str, *rest: Any, **options: Any) -> Any:
        return known("127.0.1.1" if host == "host0" else host, *rest, **options)

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    found = own_address("host0:7000")
    assert found is None or not ipaddress.ip_address(found).is_loopback


def test_where_nothing_says_which_processes_there_are(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text("print('ran')")
    done = run([sys.executable, "-m", "pystage.launch", str(script)])
    assert done.returncode == 1 and "Give --processes N" in done.stderr
    assert "Traceback" not in done.stderr and "ran" not in done.stdout


@pytest.mark.skipif(not ALL, reason="takes half a minute")
def test_one_that_raises_ends_the_others(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    done = run(launch(script, "raise"))
    assert done.returncode == 1 and "ValueError: a bad batch" in done.stderr and "runpy" not in done.stderr


def outcome(text: str) -> tuple[dict[int, float], float]:
    """The losses of the epochs, and the sum of all weights."""
    losses = {int(epoch): float(loss) for epoch, loss in re.findall(r"epoch +(\d+): loss ([\d.]+)", text)}
    (total,) = re.findall(r"sum of all weights: ([-\d.]+)", text)
    return losses, float(total)


@pytest.mark.skipif(not ALL, reason="takes a minute")
def test_a_training_goes_on_after_a_process_was_killed(tmp_path: Path) -> None:
    options = ["--epochs", "6", "--width", "4"]
    losses, weights = outcome(run([sys.executable, str(EXAMPLE), *options]).stdout)
    whole, whole_weights = outcome(run(launch(EXAMPLE, *options)).stdout)
    assert list(losses) == list(whole) == [1, 2, 3, 4, 5, 6]
    np.testing.assert_allclose(list(whole.values()), list(losses.values()), rtol=1e-4)
    assert whole_weights == pytest.approx(weights, rel=1e-4)

    command = launch(EXAMPLE, *options, "--checkpoints", tmp_path / "states")
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as started:
        assert started.stdout is not None
        for line in started.stdout:
            if line.startswith("epoch  3"):
                break
        children = Path(f"/proc/{started.pid}/task/{started.pid}/children").read_text().split()
        begin = time.monotonic()
        subprocess.run(["kill", "-9", children[1]], check=True)
        assert started.wait(60) == 128 + signal.SIGKILL
        assert time.monotonic() - begin < 60
    resumed = run(command)
    after, after_weights = outcome(resumed.stdout)
    assert "goes on after epoch" in resumed.stdout and 6 in after and 1 not in after, resumed.stderr
    assert all(after[epoch] == pytest.approx(whole[epoch], rel=1e-5) for epoch in after)
    assert after_weights == pytest.approx(whole_weights, rel=1e-5)
