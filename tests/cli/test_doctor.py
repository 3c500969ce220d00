"""`pystage doctor`: what it finds, what it keeps to itself, and its status where something does not work."""

from __future__ import annotations

import json
import os

import jax
import pytest

import pystage
from pystage.cli import doctor, main


def test_all_is_well_here(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor"]) == 0
    text = capsys.readouterr().out
    for words in (
        "pystage  ",
        "jaxlib  ",
        "python  ",
        "cpu:0  ",
        "check_bounds  ",
        "ok      a compiled call",
    ):
        assert f"  {words}" in text
    assert "FAILED" not in text


def test_json_holds_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["versions"]["jax"] == jax.__version__
    assert found["settings"].keys() == pystage.config.settings().keys()
    assert [check["passed"] for check in found["checks"]] == [True, True, True]


def test_only_variables_that_matter_are_shown_and_no_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYSTAGE_SOMETHING", os.path.expanduser("~/here"))
    monkeypatch.setenv("JAX_SERVICE_TOKEN", "hush-1")
    monkeypatch.setenv("MY_PASSWORD", "hush-2")
    report = doctor.examine()
    assert report.environment["JAX_SERVICE_TOKEN"] == "(set, not shown)"
    assert report.environment["PYSTAGE_SOMETHING"] == "~/here"
    assert "MY_PASSWORD" not in report.environment
    assert "hush" not in str(report)


def test_the_cache_is_described(monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:
    (tmp_path / "program").write_bytes(b"12345678")
    before = jax.config.jax_compilation_cache_dir
    jax.config.update("jax_compilation_cache_dir", str(tmp_path))
    try:
        found = doctor.examine().caches
    finally:
        jax.config.update("jax_compilation_cache_dir", before)
    assert found["jax_compilation_cache_dir"] == str(tmp_path)
    assert found["files"].startswith("1, 8 B")


def test_what_does_not_work_is_told_and_is_status_one(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken() -> None:
        raise RuntimeError("no devices to be found")

    monkeypatch.setattr(jax, "devices", broken)
    assert main(["doctor"]) == 1
    text = capsys.readouterr().out
    assert "FAILED  devices: Traceback" in text
    assert "no devices to be found" in text


def test_a_wrong_answer_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "asarray", lambda a: pystage.lazy.asarray(a) + 1)
    checks = {check.name: check for check in doctor.examine().checks}
    assert not checks["a call on lazy tensors"].passed
    assert "Mismatched elements" in checks["a call on lazy tensors"].detail
    assert checks["a compiled call"].passed
