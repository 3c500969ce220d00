"""Arrays that are values of a computed dict and parts of objects in a list, too: a store into the dict is one into them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pystage
import pytest
from pystage import StagingError


class Track:
    def __init__(self, position: Any) -> None:
        self.position = position


def in_dicts(keys):
    found, rows = {}, []
    for k in keys:
        v = np.zeros(2) + k
        found[k] = v
        rows.append({"v": v})
    for k in keys:
        found[k] += 1.0
    return sum([row["v"].sum() for row in rows])


def in_objects(keys):
    found, tracks = {}, []
    for k in keys:
        track = Track(np.zeros(2) + k)
        tracks.append(track)
        found[k] = track.position
    for k in keys:
        found[k] += 1.0
    return sum([track.position.sum() for track in tracks])


def in_lists(keys):
    found, lists = {}, [[] for _ in range(3)]
    for k in keys:
        v = np.zeros(2) + k
        found[k] = v
        lists[k % 3].append(v)
    for k in keys:
        found[k] += 1.0
    return sum([v.sum() for each in lists for v in each])


def _add(found, k):
    found[k] += 1.0


def in_a_callee(keys):
    found, rows = {}, []
    for k in keys:
        v = np.zeros(2) + k
        found[k] = v
        rows.append({"v": v})
    for k in keys:
        _add(found, k)
    return sum([row["v"].sum() for row in rows])


@pytest.mark.parametrize("program", [in_dicts, in_objects, in_lists, in_a_callee])
def test_what_an_object_holds_does_not_stay_behind(program: Any) -> None:
    with pytest.raises(StagingError, match="PS503"):
        pystage.compile(program, fallback="error")(np.arange(1, 7) * 3)
