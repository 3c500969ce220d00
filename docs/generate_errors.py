"""Writes `docs/errors/`: a page for each code, from its class and its goldens, and an index; the rewrites for the package.

In: the registry of diagnostics, and `tests/goldens/`. Out: Markdown. Run it as `python docs/generate_errors.py`
after a code, its words or its golden changed; a test fails until that is done.
"""

from __future__ import annotations

import inspect
import json
import re
from pathlib import Path

from pystage.compiler.diagnostics.catalogue import is_rewrite
from pystage.compiler.diagnostics.diagnostic import REGISTRY, Diagnostic

ROOT = Path(__file__).resolve().parent.parent
PAGES = ROOT / "docs" / "errors"
REWRITES = ROOT / "pystage" / "compiler" / "diagnostics" / "rewrites.json"
GOLDENS = ROOT / "tests" / "goldens"

WRITTEN = {"coming-from.md"}
"""Pages in `docs/errors/` that other scripts write."""

EXAMPLES = 3
"""So many examples a page has."""

FAMILIES = {
    "1": "Syntax and source",
    "2": "Types and shapes",
    "3": "Control flow",
    "4": "Values that must be known while compiling",
    "5": "Mutation and aliasing",
    "6": "Calls, attributes and classes",
    "7": "Derivatives and vmap",
    "8": "The call of a compiled function",
}


CODES = {code: kind for code, kind in sorted(REGISTRY.items()) if kind.__module__.startswith("pystage.")}
"""The codes of the package itself; tests declare some of their own."""


def pages() -> dict[str, str]:
    """Every page by its file name."""
    made = {f"{code}.md": page(code, kind) for code, kind in CODES.items()}
    return {"index.md": index(), **made}


def page(code: str, kind: type[Diagnostic]) -> str:
    """The page of one code: what it means, an example with its error, and the rewrite."""
    parts = [f"# {code}: {headline(kind)}", inspect.cleandoc(kind.__doc__ or "")]
    if re.fullmatch(r"\{\w+\}", kind.help):
        parts.append("**What to do:** The error says what to write instead.")
    elif kind.help:
        parts.append(f"**What to do:** {sentence(plain(kind.help))}")
    texts = examples(code, kind)
    for text in texts[:EXAMPLES]:
        parts.extend(example(text))
    if len(texts) > EXAMPLES:
        parts.append(f"`tests/goldens/PS{code[2]}xx/` has {len(texts) - EXAMPLES} more.")
    parts.append("[All errors](index.md)")
    return "\n\n".join(parts) + "\n"


def examples(code: str, kind: type[Diagnostic]) -> list[Path]:
    """The goldens of a code: the one that is named after its class, then the shortest."""
    name = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", kind.__name__).lower()
    texts = GOLDENS.glob(f"PS?xx/{code}_*.txt")
    return sorted(texts, key=lambda path: (not path.stem.endswith(name), len(path.read_text()), path.stem))


def example(text: Path) -> list[str]:
    """The program of a golden where it has a file of its own, its error, and the rewrite."""
    source = text.with_suffix(".py")
    error = ["It is reported like this:", fenced(text.read_text(), "text")]
    heading = f"## Example: {text.stem.partition('_')[2].replace('_', ' ')}"
    if not source.exists():
        return [heading, *error]
    program, rewritten = before_and_after(source)
    parts = [heading, fenced(program, "python"), *error]
    if rewritten:
        parts += [
            f"This works{'' if is_rewrite(rewritten) else ', and gives something else'}:",
            fenced(rewritten, "python"),
        ]
    return parts


def before_and_after(source: Path) -> tuple[str, str]:
    """The program of a golden, and its rewrite or alternative, empty where there is none."""
    text = source.read_text().split("\n\n\narguments = ")[0]
    program, *after = re.split(r"\n\n\n(?=def (?:rewritten|alternative)\b)", text)
    return program.strip(), after[0].strip() if after else ""


def rewrites() -> str:
    """For each code the programs that have a rewrite, with what they are refused with: JSON, for `pystage explain`."""
    found: dict[str, list[dict[str, str]]] = {}
    for code, kind in CODES.items():
        for text in examples(code, kind):
            source = text.with_suffix(".py")
            program, rewritten = before_and_after(source) if source.exists() else ("", "")
            if rewritten:
                first, *others = text.read_text().splitlines()
                found.setdefault(code, []).append(
                    {
                        "headline": first.partition(": ")[2],
                        "advice": next((x.partition(": ")[2] for x in others if x.startswith("help: ")), ""),
                        "program": program,
                        "rewritten": rewritten,
                    }
                )
    return json.dumps(found, indent=1, ensure_ascii=False) + "\n"


def index() -> str:
    """The list of all codes, by family."""
    parts = [
        "# Errors",
        "pystage refuses what it cannot stage with a `pystage.StagingError`, whose `diagnostics` have a stable "
        "code, the place in the source, the reasons, and a rewrite. Each code has a page, which "
        "`docs/generate_errors.py` makes from the class of the error and from programs that show it. "
        "`pystage explain PS301` prints the page.",
        "A traceback ends at the call of the staged function; `PYSTAGE_TRACEBACK=full` shows pystage's own frames too. "
        "`NO_COLOR` and `FORCE_COLOR` are respected.",
        "[Coming from another tool](coming-from.md) shows the errors that users of JAX, Numba, `torch.compile` and others "
        "ask about most, and what pystage does in their place.",
    ]
    for digit, title in FAMILIES.items():
        codes = [code for code in CODES if code[2] == digit]
        if codes:
            rows = [f"- [{code}]({code}.md): {headline(CODES[code])}" for code in codes]
            parts += [f"## PS{digit}xx: {title}", "\n".join(rows)]
    return "\n\n".join(parts) + "\n"


def plain(template: str) -> str:
    """A template for readers: `{name}` becomes *name*, and inside longer code just the name."""
    field = re.compile(r"\{(\w+)(?:![rs])?\}")
    alone = re.sub(r"`\{(\w+)\}`", r"{\1}", template)
    pieces = alone.split("`")
    pieces[0::2] = [field.sub(r"*\1*", piece) for piece in pieces[0::2]]
    pieces[1::2] = [field.sub(r"\1", piece) for piece in pieces[1::2]]
    return "`".join(pieces).replace("{{", "{").replace("}}", "}")


def headline(kind: type[Diagnostic]) -> str:
    """The title; where that is all one field, the first sentence of the docstring."""
    if re.fullmatch(r"\{\w+\}", kind.title):
        return re.split(r"[.;]", inspect.cleandoc(kind.__doc__ or ""))[0]
    return plain(kind.title)


def sentence(text: str) -> str:
    """`text` with a capital letter and a full stop."""
    return text[:1].upper() + text[1:] + ("" if text.endswith(".") else ".")


def fenced(text: str, language: str) -> str:
    return f"```{language}\n{text.strip()}\n```"


def main() -> None:
    """Writes what changed and removes the pages of codes that are gone."""
    made = pages()
    for path in PAGES.glob("*.md"):
        if path.name not in made and path.name not in WRITTEN:
            path.unlink()
    for name, text in made.items():
        (PAGES / name).write_text(text)
    REWRITES.write_text(rewrites())


if __name__ == "__main__":
    main()
