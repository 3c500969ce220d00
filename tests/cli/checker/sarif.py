"""What SARIF 2.1.0 (OASIS, 27 March 2020) asks of the parts of a log that `pystage check` writes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote, urlsplit

_LEVELS = {"none", "note", "warning", "error"}
_PROPERTIES = {
    "log": {"$schema", "version", "runs"},
    "run": {"tool", "columnKind", "results"},
    "driver": {"name", "version", "rules"},
    "rule": {"id", "name", "shortDescription", "help"},
    "result": {"ruleId", "ruleIndex", "level", "message", "locations", "relatedLocations"},
    "location": {"id", "message", "physicalLocation", "logicalLocations"},
    "physical": {"artifactLocation", "region"},
    "logical": {"fullyQualifiedName", "kind"},
    "region": {"startLine", "startColumn", "endLine", "endColumn"},
}
"""The properties that are written here, all of which the specification names."""
_URI = re.compile(r"(?:[A-Za-z0-9\-._~!$&'()*+,;=:@/]|%[0-9A-F]{2})+")
"""A URI or a relative reference (RFC 3986) without query and fragment."""


def violations(log: dict[str, Any]) -> Iterator[str]:
    """Where a log is not as the specification asks."""
    yield from _has_only("log", log)
    if log.get("version") != "2.1.0":
        yield "log: version"
    if not isinstance(log.get("runs"), list):
        yield "log: runs"
    for run in log["runs"]:
        yield from _run(run)


def _run(run: dict[str, Any]) -> Iterator[str]:
    yield from _has_only("run", run)
    driver = run["tool"]["driver"]  # required
    yield from _has_only("driver", driver)
    if not driver["name"]:
        yield "driver: name"
    rules = driver["rules"]
    if len({rule["id"] for rule in rules}) != len(rules):  # elements are unique
        yield "driver: two rules of one id"
    for rule in rules:
        yield from _has_only("rule", rule)
        if not rule["id"]:
            yield "rule: id"
        for name in ("shortDescription", "help"):  # text is required
            yield from _text(rule[name], f"rule: {name}")
    if run["columnKind"] not in ("utf16CodeUnits", "unicodeCodePoints"):
        yield "run: columnKind"
    for result in run["results"]:  # there, even if it is empty
        yield from _result(result, rules)


def _result(result: dict[str, Any], rules: list[dict[str, Any]]) -> Iterator[str]:
    yield from _has_only("result", result)
    index = result["ruleIndex"]
    if not 0 <= index < len(rules) or rules[index]["id"] != result["ruleId"]:
        yield "result: ruleId and ruleIndex"
    if result["level"] not in _LEVELS:
        yield "result: level"
    yield from _text(result["message"], "result: message")  # required
    if len(result["locations"]) != 1:  # several only if a change at all of them is needed
        yield "result: locations"
    related = result.get("relatedLocations", [])
    ids = [location["id"] for location in related]
    if len({*ids}) != len(ids) or not all(isinstance(i, int) and i >= 0 for i in ids):
        yield "result: ids of related locations"
    for location in (*result["locations"], *related):
        yield from _location(location)


def _location(location: dict[str, Any]) -> Iterator[str]:
    yield from _has_only("location", location)
    if "message" in location:
        yield from _text(location["message"], "location: message")
    for logical in location.get("logicalLocations", []):
        yield from _has_only("logical", logical)
        if logical["kind"] != "function" or not logical["fullyQualifiedName"]:
            yield "logical location"
    physical = location["physicalLocation"]
    yield from _has_only("physical", physical)
    uri = physical["artifactLocation"]["uri"]
    if not _URI.fullmatch(uri) or "\\" in unquote(uri):
        yield f"uri: {uri}"
    if urlsplit(uri).scheme not in ("", "file") or (not urlsplit(uri).scheme and uri.startswith("/")):
        yield f"uri: {uri} is neither relative nor that of a file"
    yield from _region(physical["region"])


def _region(region: dict[str, Any]) -> Iterator[str]:
    yield from _has_only("region", region)
    start = region["startLine"], region["startColumn"]  # from 1
    end = region["endLine"], region["endColumn"]  # the column after the last
    if not all(isinstance(number, int) and number >= 1 for number in (*start, *end)) or end < start:
        yield f"region: {region}"


def _text(message: dict[str, Any], where: str) -> Iterator[str]:
    """There is a text, in which braces that are no placeholders are doubled (3.11.5)."""
    text = message.get("text")
    if message.keys() != {"text"} or not isinstance(text, str) or not text:
        yield f"{where}: no text"
    elif re.search(r"[{}]", text.replace("{{", "").replace("}}", "")):
        yield f"{where}: braces in {text}"


def _has_only(kind: str, found: dict[str, Any]) -> Iterator[str]:
    yield from [f"{kind}: {name}" for name in found.keys() - _PROPERTIES[kind]]
