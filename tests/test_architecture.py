"""The house stands as docs/architecture.md says: imports point one way."""

from __future__ import annotations

import ast
import functools
import re
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent / "pystage"

LAYERS = [
    {"records", "version", "limits"},
    {"config", "autocasting", "recursion", "deferred", "policy", "speculation", "hash_order"},
    {"diagnostics"},
    {"stage", "hlo"},
    {"ops"},
    {"analysis"},
    {"ad"},
    {"batch"},
    {"values"},
    {"library", "frontend"},
    {"infer", "passes", "emit"},
    {"bridges"},
    {"pipeline"},
    {"runtime"},
    {"lazy"},
    {"offload"},
    {"explain"},
    {"on_demand"},
    {"staging"},
    {"transforms"},
    {"introspection"},
    {"cli", "launch", "notebook"},
    {"__init__", "__main__"},
]
"""From below to above: a module imports from its own layer's package and from layers below."""

RANK = {name: i for i, layer in enumerate(LAYERS) for name in layer}


def part_of(path: Path) -> str:
    """The part of the house that a file belongs to."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    if parts[0] == "compiler":
        return parts[1] if len(parts) > 1 else "compiler"
    return parts[0]


Import = ast.Import | ast.ImportFrom


@dataclass(frozen=True)
class Parsed:
    """What these tests read of a file; a file is parsed once for all of them."""

    imports: list[Import]
    typing_only: set[Import]
    in_functions: list[Import]
    classes: list[str]
    """The classes of the module's top level."""
    docstrings: list[str]
    """Those of the module, its classes, functions and variables."""


@functools.cache
def parsed(path: Path) -> Parsed:
    """The imports, the classes and the docstrings of a file."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found = Parsed([], set(), [], [node.name for node in tree.body if isinstance(node, ast.ClassDef)], [])
    _collect(tree, found, in_function=False, typing_only=False)
    return found


def _collect(node: ast.AST, found: Parsed, *, in_function: bool, typing_only: bool) -> None:
    """Adds the imports and docstrings below a node."""
    if isinstance(node, Import):
        found.imports.append(node)
        if in_function:
            found.in_functions.append(node)
        if typing_only:
            found.typing_only.add(node)
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and type(node.value.value) is str:
        found.docstrings.append(node.value.value)
    if isinstance(node, ast.expr):  # no statement is inside
        return
    in_function = in_function or isinstance(node, ast.FunctionDef)
    typing_only = typing_only or (isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING")
    for child in ast.iter_child_nodes(node):
        _collect(child, found, in_function=in_function, typing_only=typing_only)


def imports_of(path: Path) -> list[tuple[int, str, bool]]:
    """Every part that a file imports from, with the line, and whether it is for types only."""
    package = list(path.relative_to(ROOT.parent).parent.parts)
    found = []
    for node in parsed(path).imports:
        if isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            target = [*base, *(node.module or "").split(".")]
            targets = [target] if node.module else [[*target[:-1], a.name] for a in node.names]
        else:
            targets = [a.name.split(".") for a in node.names]
        for each in targets:
            if each[:1] == ["pystage"]:
                name = each[2] if each[1:2] == ["compiler"] and len(each) > 2 else each[1]
                found.append((node.lineno, name, node in parsed(path).typing_only))
    return found


OTHERS = [ROOT.parent / name for name in ("tests", "docs", "benchmarks", "examples")]
MADE_UP = {"script.py", "clock.py", "file.py", "setup.py", "checked.py"}
"""Files of users that examples name."""
FOREIGN = {"json/decoder.py", "numpy/linalg/_linalg.py"}
"""Files of Python's library and of NumPy that docstrings name."""

TESTS = Path(__file__).resolve().parent
SUITES = {"distributed", "contract", "errors", "kinds", "outside", "programs", "goldens", "coming_from"}
"""Folders of tests of the whole compiler; the others mirror packages."""

FILES = sorted(p for p in ROOT.rglob("*.py") if not p.is_symlink())


def test_every_file_is_in_a_known_part() -> None:
    assert {part_of(p) for p in FILES} - {"compiler"} <= set(RANK)


def test_imports_point_one_way() -> None:
    assert not [
        f"{path.relative_to(ROOT)}:{line} imports {name}"
        for path in FILES
        for line, name, for_types in imports_of(path)
        if (own := part_of(path)) != "compiler"
        if name in RANK and name != own and RANK[name] >= RANK[own] and not for_types
    ]


def test_no_imports_inside_functions() -> None:
    assert not [
        f"{path.relative_to(ROOT)}:{node.lineno}" for path in FILES for node in parsed(path).in_functions
    ]


def test_folders_can_be_taken_in_at_once() -> None:
    goldens = TESTS / "goldens"
    folders = {path.parent for path in (*FILES, *TESTS.rglob("*.py")) if goldens not in path.parents}
    sizes = {folder: len(list(folder.glob("*.py"))) for folder in folders}
    assert not {str(f): n for f, n in sizes.items() if n > 25}


def test_tests_mirror_the_packages() -> None:
    """A folder of tests is that of a package; a test of one module stands there or deeper."""
    wrong = []
    for path in TESTS.rglob("*.py"):
        folder = path.parent.relative_to(TESTS)
        if not folder.parts or folder.parts[0] in SUITES:
            continue
        top = next(base for base in (ROOT, ROOT / "compiler") if (base / folder.parts[0]).is_dir())
        own = top / folder
        homes = {p.parent for p in (top / folder.parts[0]).rglob(path.name.removeprefix("test_"))}
        if not own.is_dir() or (path.name.startswith("test_") and homes and not homes & {own, *own.parents}):
            wrong.append(str(path.relative_to(TESTS)))
    assert not wrong


@functools.cache
def import_graph() -> dict[str, set[str]]:
    """By module, the modules of pystage that it imports, those for types only included."""
    names = {
        ".".join(path.relative_to(ROOT.parent).with_suffix("").parts).removesuffix(".__init__"): path
        for path in FILES
    }
    graph: dict[str, set[str]] = {}
    for name, path in names.items():
        package = list(path.relative_to(ROOT.parent).parent.parts)
        graph[name] = set()
        for node in parsed(path).imports:
            if isinstance(node, ast.ImportFrom):
                base = package[: len(package) - node.level + 1] if node.level else []
                source = ".".join([*base, node.module] if node.module else base)
                inside = {f"{source}.{alias.name}" for alias in node.names}
                graph[name] |= inside & names.keys() or {source} & names.keys()
            else:
                graph[name] |= {alias.name for alias in node.names} & names.keys()
    return graph


def circles(graph: dict[str, set[str]]) -> list[set[str]]:
    """The sets of modules each of which imports, perhaps through others, all others of its set."""
    reached: dict[str, set[str]] = {}
    for name in graph:
        seen: set[str] = set()
        stack = [name]
        while stack:
            new = graph[stack.pop()] - seen
            seen |= new
            stack.extend(new)
        reached[name] = seen
    found = {frozenset(other for other in reached[name] if name in reached[other]) for name in graph}
    return [set(circle) for circle in found if len(circle) > 1]


def test_no_circle_of_imports_is_large() -> None:
    """What refers to each other by nature may: an operation of a program and its kind, a tensor and what is recorded.

    The rooms of inference call each other through the engine, which they import.
    """
    found = [sorted(circle) for circle in circles(import_graph())]
    assert not [circle for circle in found if len(circle) > 5]
    assert not [circle for circle in found if circle[0].startswith("pystage.compiler.infer.")]


def folder_graph(part: str) -> dict[str, set[str]]:
    """By folder of a part, the folders of the part from which its modules import."""
    homes = {
        ".".join(path.relative_to(ROOT.parent).with_suffix("").parts).removesuffix(".__init__"): str(
            path.parent.relative_to(ROOT)
        )
        for path in FILES
        if part_of(path) == part
    }
    graph: dict[str, set[str]] = {home: set() for home in homes.values()}
    for name, imported in import_graph().items():
        if name in homes:
            graph[homes[name]] |= {homes[other] for other in imported & homes.keys()} - {homes[name]}
    return graph


@pytest.mark.parametrize("part", ["infer", "library"])
def test_folders_import_one_way(part: str) -> None:
    assert not circles(folder_graph(part))


def missing_files(text: str) -> set[str]:
    """The files that a text names, each by the end of its path, and that are not there."""
    named = set(re.findall(r"`([a-z_0-9/]+\.py)`", text))
    return {name for name in named if not any(f"/{path}".endswith(f"/{name}") for path in known_files())}


@functools.cache
def known_files() -> set[str]:
    return {str(path.relative_to(ROOT.parent)) for top in (ROOT, *OTHERS) for path in top.rglob("*.py")}


@pytest.mark.parametrize("page", sorted((ROOT.parent / "docs").rglob("*.md")), ids=lambda p: p.name)
def test_files_that_the_docs_name_are_there(page: Path) -> None:
    assert missing_files(page.read_text(encoding="utf-8")) <= MADE_UP


def test_files_that_docstrings_name_are_there() -> None:
    sources = [*FILES, *(p for p in TESTS.rglob("*.py") if TESTS / "goldens" not in p.parents)]
    missing = {str(path): missing_files("\n".join(parsed(path).docstrings)) for path in sources}
    assert not {path: names for path, names in missing.items() if not names <= MADE_UP | FOREIGN}


@pytest.mark.skipif(not (ROOT.parent / ".git").exists(), reason="a source distribution has no links")
@pytest.mark.parametrize("name", ["compiler", "runtime"])
def test_the_top_level_shows_the_compiler_and_the_runtime(name: str) -> None:
    """As links, which nothing follows: not packaging, lint, the type checker or test collection."""
    link = ROOT.parent / name
    assert link.is_symlink() and link.resolve() == ROOT / name


IN_BOTH_IRS = {"Binary", "Call", "Compare", "Constant", "Function", "If", "Unary", "While"}
"""Instructions of stage IR that HLO IR has too; modules that use both import the former as `stage`."""


def test_a_class_has_a_name_of_its_own() -> None:
    defined: dict[str, list[str]] = {}
    for path in FILES:
        for name in parsed(path).classes:
            defined.setdefault(name, []).append(str(path.relative_to(ROOT)))
    assert {name for name, paths in defined.items() if len(paths) > 1} <= IN_BOTH_IRS


BRIDGES = ROOT / "compiler" / "bridges"
PACKAGES = re.compile(
    r"flax|\blinen\b|\bnnx\b|equinox|\beqx\b|optax|\bchex\b|distrax|haiku"
    r"|torch|sklearn|tensorflow|pandas|polars|matplotlib|networkx|sympy|\bnumba\b|tqdm"
)
"""In lower case, packages that have a bridge, but for SciPy, of which the library knows functions too."""


def test_no_package_is_named_outside_of_its_bridge() -> None:
    assert not [
        f"{path.relative_to(ROOT)}: {name}"
        for path in FILES
        if BRIDGES not in path.parents
        for name in PACKAGES.findall(path.read_text(encoding="utf-8").lower())
    ]


def test_bridges_use_the_interface_of_inference_alone() -> None:
    modules = [
        (node.module or "").split(".")
        for path in FILES
        if BRIDGES in path.parents
        for node in parsed(path).imports
        if isinstance(node, ast.ImportFrom)
    ]
    assert not [".".join(m) for m in modules if "infer" in m and m != ["infer", "interface"]]


def test_each_limit_is_assigned_once() -> None:
    tree = ast.parse((ROOT / "compiler" / "limits.py").read_text())
    names = [node.targets[0].id for node in tree.body if isinstance(node, ast.Assign)]
    assert len(names) == len(set(names)), [name for name in names if names.count(name) > 1]
