"""`pystage dump`: the program at each stage, with the source lines."""

from __future__ import annotations

import re
import runpy
import sys
from pathlib import Path

import pytest
from jax._src.interpreters.mlir import make_ir_context
from jax._src.lib.mlir import ir

import pystage
from pystage.introspection import code_lowered
from pystage.runtime.reports.hlo_text import hlo_lines
from pystage.runtime.reports.mlir_text import mlir_lines

from .commands import HERE, fit, main, target

LINES = Path(HERE).read_text().splitlines()
LOOP = LINES.index("    for _i in range(n):") + 1
TANH = LINES.index("    return np.tanh(x @ w)") + 1


def dumped(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """What the command writes."""
    assert main(["dump", *arguments]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize(
    ("stage", "loop", "product"),
    [
        ("lowered", "for ", None),
        ("typed", "= while", "dot_general"),
        ("stablehlo", "stablehlo.while", "stablehlo.dot_general"),
        ("hlo", " while(", " dot("),
        ("optimized", " while(", " dot("),
    ],
)
def test_operations_stand_beside_their_lines(
    capsys: pytest.CaptureFixture[str], stage: str, loop: str, product: str | None
) -> None:
    text = dumped(capsys, target("fit"), "--stage", stage).splitlines()
    for words, line in ((loop, LOOP), (product, TANH)):
        if words is not None:
            found = [row for row in text if words in row]
            assert found
            assert all(re.search(rf"(#|//) commands\.py:{line}$", row) for row in found)


def test_typed_is_the_default(capsys: pytest.CaptureFixture[str]) -> None:
    assert dumped(capsys, target("ten")) == dumped(capsys, target("ten"), "--stage", "typed")


def test_lowered_needs_no_arguments_and_says_what_code_lowered_says(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert dumped(capsys, target("unsaid"), "--stage", "lowered").startswith("def unsaid(x):")
    written = dumped(capsys, target("fit"), "--stage", "lowered")
    code = [line.partition("  #")[0].rstrip() for line in written.splitlines()]
    assert code == [line.partition("  #")[0].rstrip() for line in code_lowered(fit).splitlines()]


def test_stablehlo_stays_readable_by_machines(capsys: pytest.CaptureFixture[str]) -> None:
    text = dumped(capsys, target("fit"), "--stage", "stablehlo")
    with make_ir_context():
        assert "stablehlo.while" in str(ir.Module.parse(text))
    assert "loc(" not in text


@pytest.mark.parametrize(("stage", "operation"), [("stablehlo", "call @qr"), ("optimized", " custom-call(")])
def test_what_jax_lowers_stands_beside_its_line(
    capsys: pytest.CaptureFixture[str], stage: str, operation: str
) -> None:
    text = dumped(capsys, target("factors"), "--args", "jnp.ones((4, 4))", "--stage", stage).splitlines()
    line = LINES.index("    q, r = jnp.linalg.qr(x)") + 1
    found = [row for row in text if operation in row]
    assert found
    assert all(row.endswith(f"// commands.py:{line}") for row in found)


def test_what_jax_lowers_is_named_without_addresses(capsys: pytest.CaptureFixture[str]) -> None:
    text = dumped(capsys, target("factors"), "--args", "jnp.ones((4, 4))")
    assert "jax_call(function=jax.numpy.linalg.qr, " in text
    assert " at 0x" not in text


def test_hlo_is_without_tables_and_metadata(capsys: pytest.CaptureFixture[str]) -> None:
    text = dumped(capsys, target("fit"), "--stage", "optimized")
    assert text.startswith("HloModule ")
    assert not re.search(r"metadata=|StackFrames|FileNames", text)


def test_compiled_functions_are_dumped_as_plain_ones(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--args", "np.ones((4, 8))"]
    assert dumped(capsys, target("compiled"), *arguments) == dumped(capsys, target("ten"), *arguments)


def test_output_goes_to_a_file(capsys: pytest.CaptureFixture[str], tmp_path) -> None:
    file = tmp_path / "ten.txt"
    assert dumped(capsys, target("ten"), "-o", str(file)) == ""
    assert file.read_text() == dumped(capsys, target("ten"))


def test_what_cannot_be_staged_is_told_and_is_status_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["dump", target("refused")]) == 1
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.startswith("error[PS601]")
    assert main(["dump", target("unreadable"), "--stage", "lowered"]) == 1
    assert "PS112" in capsys.readouterr().err


def test_what_surely_raises_is_told_and_is_status_one(capsys: pytest.CaptureFixture[str]) -> None:
    for stage in ("typed", "stablehlo"):
        assert main(["dump", target("raising"), "--stage", stage]) == 1
        told = capsys.readouterr()
        assert told.out
        assert told.err.startswith("whatever the values are, raising(float64[4]) raises ValueError; ")
        assert told.err.endswith("; `pystage explain` says where\n")
    dumped(capsys, target("raising"), "--stage", "lowered")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["no_such_module_here:f"], "cannot be imported"),
        ([target("fat")], "there is no `fat`"),
        ([target("unsaid")], "nothing says what the argument `x` is"),
        ([target("ten"), "--args", "1, 2, 3"], "too many positional arguments"),
        ([target("ten"), "--args", "nothing"], "name 'nothing' is not defined"),
        ([target("ten"), "-o", "/no/such/folder/x.txt"], "/no/such/folder/x.txt cannot be written"),
        (
            [target("ten"), "--html", "-o", "/no/such/folder/x.html"],
            "/no/such/folder/x.html cannot be written",
        ),
    ],
)
def test_what_is_asked_wrongly_is_told_and_is_status_two(
    capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    assert main(["dump", *arguments]) == 2
    told = capsys.readouterr().err
    assert message in told
    assert "Traceback" not in told or "no_such" in told


def test_the_module_is_the_command(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["pystage", "dump", target("ten")])
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(Path(pystage.__file__).parent / "__main__.py"), run_name="__main__")
    assert ended.value.code == 0
    assert capsys.readouterr().out.startswith("function ten(")


def test_places_of_calls_follow_the_innermost_in_hlo() -> None:
    text = """HloModule m

FileNames
1 "inner.py"
2 "outer.py"

FunctionNames
1 "f"

FileLocations
1 {file_name_id=1 function_name_id=1 line=3 end_line=3 column=1 end_column=2}
2 {file_name_id=2 function_name_id=1 line=7 end_line=7 column=1 end_column=2}

StackFrames
1 {file_location_id=2 parent_frame_id=1}
2 {file_location_id=1 parent_frame_id=2}


ENTRY %main (a: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %b = f32[] add(%a, %a), metadata={op_name="f{}" stack_frame_id=2}, backend_config={"x":{}}
  ROOT %c = f32[] negate(%b), metadata={op_name="f" source_file="old.py" source_line=9}
}
"""
    lines = list(hlo_lines(text))
    assert [line.text for line in lines[:3]] == ["HloModule m", "", "ENTRY %main (a: f32[]) -> f32[] {"]
    a, b, c = lines[3:6]
    assert (a.places, a.instruction) == ((), True)
    assert b.places == (("inner.py", 3), ("outer.py", 7))
    assert b.text.endswith('add(%a, %a), backend_config={"x":{}}')
    assert c.places == (("old.py", 9),)


def test_locations_in_stablehlo_resolve_names_calls_and_strings() -> None:
    text = """#loc = loc(unknown)
#loc1 = loc("a.py":4:5 to :9)
#loc2 = loc("b.py":6:1)
#loc3 = loc(callsite(#loc1 at #loc2))
#loc4 = loc("f"(#loc3))
module {
  func.func @main(%arg0: tensor<f32> loc("x"(#loc))) -> tensor<f32> {
    %0 = "stablehlo.case"(%arg0) ({
      stablehlo.return %arg0 : tensor<f32> loc(#loc2)
    }) {note = " loc(kept)"} : (tensor<f32>) -> tensor<f32> loc(#loc4)
    return %0 : tensor<f32> loc(#loc)
  } loc(#loc2)
} loc(#loc)
"""
    lines = {line.text.strip(): line for line in mlir_lines(text)}
    both = (("a.py", 4), ("b.py", 6))
    assert lines['%0 = "stablehlo.case"(%arg0) ({'].places == both
    assert lines['}) {note = " loc(kept)"} : (tensor<f32>) -> tensor<f32>'].places == both
    assert lines["func.func @main(%arg0: tensor<f32>) -> tensor<f32> {"].places == (("b.py", 6),)
    assert [line.text for line in lines.values() if line.operation] == ['    %0 = "stablehlo.case"(%arg0) ({']
