"""`python -m pystage.launch` as a process of a job: SLURM's and Kubernetes' environment says who is who."""

from __future__ import annotations

import json
import os
import shutil
import socket
import ssl
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pytest

SCRIPT = """
import jax, jax.numpy as jnp, numpy as np, pystage
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

@pystage.compile(fallback="error")
def total(x):
    return jnp.sum(x)

rows = NamedSharding(Mesh(np.array(jax.devices()), ("data",)), P("data"))
x = np.arange(4, dtype=np.float32)
found = float(total(jax.make_array_from_callback(x.shape, rows, lambda part: x[part])))
print(f"\\nprocess {jax.process_index()} of {jax.process_count()}: {found}", flush=True)
"""

IN_CLUSTER = """
import socket, sys
from pathlib import Path
from jax._src.clusters.k8s_cluster import K8sCluster
from kubernetes.config import incluster_config
from pystage.launch import main

account, script = map(Path, sys.argv[1:])
incluster_config.SERVICE_TOKEN_FILENAME = account / "token"
incluster_config.SERVICE_CERT_FILENAME = account / "ca.crt"
K8sCluster._namespace = classmethod(lambda cls: "team")
known = socket.gethostbyname
socket.gethostbyname = lambda name: "127.0.0.1" if name == "train-0.pods" else known(name)
find = K8sCluster.get_coordinator_address

def found(**options):  # no name server here knows the first pod
    host, port = find(**options).split(":")
    assert host == "train-0.pods", host
    return f"localhost:{port}"

K8sCluster.get_coordinator_address = found
sys.exit(main([str(script)]))
"""
"""Runs the launcher with the folder of the service account elsewhere than at /var/run/secrets, where only root may write."""


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "script.py"
    path.write_text(SCRIPT)
    return path


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("localhost", 0))
        port: int = probe.getsockname()[1]
    return port


def outputs(command: list[str], *environments: dict[str, str]) -> list[str]:
    """What processes with these environments print, in which they agree on a free port."""
    common = os.environ | {"JAX_COORDINATOR_PORT": str(free_port())}
    started = [
        subprocess.Popen(
            command, env=common | own, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        for own in environments
    ]
    try:
        return [process.communicate(timeout=120)[0] for process in started]
    finally:
        for process in started:
            process.kill()


def assert_joined(found: list[str]) -> None:
    for index, text in enumerate(found):
        assert f"process {index} of {len(found)}: 6.0" in text, text


def test_slurm(script: Path) -> None:
    step = {"SLURM_JOB_ID": "17", "SLURM_STEP_NODELIST": "localhost,other[01-03]", "SLURM_NTASKS": "2"}
    tasks = [step | {"SLURM_PROCID": str(i), "SLURM_LOCALID": str(i)} for i in range(2)]
    assert_joined(outputs([sys.executable, "-m", "pystage.launch", str(script)], *tasks))


class ApiServer(BaseHTTPRequestHandler):
    """The part of Kubernetes' API that tells a pod of a Job with an index about itself and its Job."""

    asked: ClassVar[list[tuple[str, str | None]]] = []
    pod: ClassVar[dict[str, Any]] = {
        "metadata": {
            "name": "train-0-x7k2p",
            "labels": {"job-name": "train"},
            "ownerReferences": [
                {"apiVersion": "batch/v1", "kind": "Job", "name": "train", "uid": "1", "controller": True}
            ],
        },
        "spec": {"subdomain": "pods", "containers": [{"name": "train"}]},
    }
    job: ClassVar[dict[str, Any]] = {
        "kind": "Job",
        "metadata": {"name": "train", "labels": {}},
        "spec": {"parallelism": 2, "completions": 2, "completionMode": "Indexed", "template": {"spec": None}},
    }

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        self.asked.append((path, self.headers["Authorization"]))
        answers = {
            "/api/v1/namespaces/team/pods": {"kind": "PodList", "items": [self.pod]},
            "/apis/batch/v1/namespaces/team/jobs/train": self.job,
        }
        body = json.dumps(answers.get(path)).encode()
        self.send_response(200 if path in answers else 404)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture
def account(tmp_path: Path) -> Iterator[tuple[Path, int]]:
    """The folder of a service account, and the port of an API server that it is for."""
    if shutil.which("openssl") is None:
        pytest.skip("needs openssl, for a certificate")
    key, certificate = tmp_path / "key.pem", tmp_path / "ca.crt"
    request = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=kubernetes"]
    request += ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(key), "-out", str(certificate)]
    subprocess.run(request, check=True, capture_output=True)
    (tmp_path / "token").write_text("secret")
    server = ThreadingHTTPServer(("127.0.0.1", 0), ApiServer)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield tmp_path, server.server_port
    server.shutdown()
    server.server_close()


def test_kubernetes(script: Path, account: tuple[Path, int]) -> None:
    pytest.importorskip("kubernetes")
    folder, port = account
    cluster = {
        "KUBERNETES_SERVICE_HOST": "127.0.0.1",
        "KUBERNETES_SERVICE_PORT": str(port),
        "HOSTNAME": "localhost",
    }
    pods = [cluster | {"JOB_COMPLETION_INDEX": str(i)} for i in range(2)]
    ApiServer.asked.clear()
    assert_joined(outputs([sys.executable, "-c", IN_CLUSTER, str(folder), str(script)], *pods))
    assert {token for _, token in ApiServer.asked} == {"bearer secret"}
    assert len(ApiServer.asked) == 4


def test_kubernetes_without_its_package(script: Path) -> None:
    """A Job's environment gives the index; the manifest says the rest."""
    pods = [{"KUBERNETES_SERVICE_HOST": "127.0.0.1", "JOB_COMPLETION_INDEX": str(i)} for i in range(2)]
    command = f'exec "{sys.executable}" -m pystage.launch --processes 2 --process "$JOB_COMPLETION_INDEX" '
    command += f'--coordinator "localhost:$JAX_COORDINATOR_PORT" "{script}"'
    assert_joined(outputs(["sh", "-c", command], *pods))
