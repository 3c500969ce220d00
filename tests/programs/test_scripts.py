"""Whole programs (`examples/scripts/`): those that compile fastest do what their plain runs do, and all are in the table."""

from __future__ import annotations

import pytest

from .scripts import FOLDER, TABLE, run


@pytest.mark.parametrize("name", ["dtmf_decoder", "jpeg_blocks", "otsu_threshold"])
def test_the_plain_and_the_staged_program_agree(name) -> None:
    result = run(FOLDER / f"{name}.py")
    assert result.what == "works", result.row()


ROUNDED = {"svm_smo"}
"""Programs that decide by the last bits of sums: README.md of the scripts has the reason of each."""


def test_the_table_has_all_programs() -> None:
    rows = [
        line.split("|") for line in TABLE.read_text(encoding="utf-8").splitlines() if line.startswith("| `")
    ]
    assert [row[1].strip(" `") for row in rows] == sorted(path.stem for path in FOLDER.glob("*.py"))
    differs = {row[1].strip(" `") for row in rows if row[2].strip() == "differs"}
    assert differs <= ROUNDED
    assert {row[2].strip() for row in rows} <= {"works", "slow", "refused", "unfinished", "differs"}
