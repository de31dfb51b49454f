"""Tuning records: one tunes, and all others agree with the result.

    from ingot_cache import tuning

    record = tuning.agree({"kernel": "matmul", "m": 4096}, measure, device=name, driver=version)
    record["value"]

A record is an artifact of the kind "tuning": a JSON object with the value and where it is from. `ingot show` prints it.
"""

from __future__ import annotations

import json
import math
import statistics
from collections.abc import Callable, Iterable, Mapping
from time import time as now
from typing import Any, cast

from . import _plug
from ._cache import Cache
from ._key import FieldValue, Key

KIND = "tuning"


def key(fields: Mapping[str, FieldValue], **provenance: FieldValue) -> Key:
    """Returns the key of a record: what was tuned, and on what."""
    clash = set(fields) & set(provenance)
    if clash:
        raise ValueError(f"{', '.join(sorted(clash))} is given twice")
    return Key(KIND, {**fields, **provenance})


def agree(
    fields: Mapping[str, FieldValue],
    tune: Callable[[], Any],
    *,
    cache: Cache | None = None,
    samples: int | None = None,
    **provenance: FieldValue,
) -> dict[str, Any]:
    """Returns the record for what ``fields`` name. If there is none, one process calls tune() while the others wait.

    tune() returns the value, which JSON can express. provenance (such as device, driver and versions) is a part of the
    key, so another device is tuned by itself, and of the record. The record has "value", "provenance", "samples", and
    "made_at" and "made_in", in seconds.
    """

    def make() -> bytes:
        begun = now()
        value = tune()
        return _text({**record(value, provenance, samples=samples), "made_at": begun, "made_in": now() - begun})

    data, _ = (cache or _plug.cache()).get_or_create(key(fields, **provenance), make, label=_label(fields))
    return cast("dict[str, Any]", json.loads(data))


def record(
    value: Any, provenance: Mapping[str, FieldValue], *, time: float | None = None, samples: int | None = None
) -> dict[str, Any]:
    """Returns a record of what this process has tuned by itself, for merge(). time: the value's, in seconds."""
    plain = {name: _plain(each) for name, each in provenance.items()}
    timed = {} if time is None else {"time": time}
    return {"value": value, "provenance": plain, "samples": samples, "made_at": now(), "made_in": 0, **timed}


def merge(records: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Returns the record on which processes agree that have tuned the same each by itself.

    The value of most records wins. Of equals, it is the one with the least median "time", and of those without one, the
    one that was made first. The order of the records does not matter, and one that is given twice counts once. The
    result has the provenance that all records share, and all of them in "records"; merge() sees through that.
    """
    every = {_text(each): each for given in records for each in given.get("records", [given])}
    if not every or not all("value" in each for each in every.values()):
        raise ValueError("there is no record, or one has no value")
    groups: dict[bytes, list[Mapping[str, Any]]] = {}
    for text in sorted(every):
        groups.setdefault(_text(every[text]["value"]), []).append(every[text])
    first, *others = (every[text] for text in sorted(every))
    if not others:
        return dict(first)
    winners = min(groups.values(), key=_rank)
    shared = {
        name: each
        for name, each in first.get("provenance", {}).items()
        if all(name in other.get("provenance", {}) and other["provenance"][name] == each for other in others)
    }
    return {
        "value": winners[0]["value"],
        "provenance": shared,
        "samples": sum(each.get("samples") or 0 for each in winners) or None,
        "made_at": max(each.get("made_at", 0) for each in every.values()),
        "made_in": sum(each.get("made_in", 0) for each in every.values()),
        "time": _median_time(winners),
        "records": [every[text] for text in sorted(every)],
    }


def put(
    fields: Mapping[str, FieldValue],
    record: Mapping[str, Any],
    *,
    cache: Cache | None = None,
    **provenance: FieldValue,
) -> None:
    """Stores or replaces a record, such as a merged one, which agree() then returns. Raises StoreError if it cannot."""
    (cache or _plug.cache()).put(key(fields, **provenance), _text(record), label=_label(fields))


def _rank(group: list[Mapping[str, Any]]) -> tuple[int, float, float]:
    """Returns what is least for the value that wins. What is still equal comes in the order of its text."""
    time = _median_time(group)
    return -len(group), math.inf if time is None else time, min(each.get("made_at", 0) for each in group)


def _median_time(group: list[Mapping[str, Any]]) -> float | None:
    times = [each["time"] for each in group if isinstance(each.get("time"), (int, float)) and each["time"] >= 0]
    return statistics.median(times) if times else None


def _text(value: Any) -> bytes:
    return json.dumps(value, sort_keys=True).encode()


def _label(fields: Mapping[str, FieldValue]) -> str:
    return " ".join(str(each) for each in fields.values() if isinstance(each, (str, int)))[:200]


def _plain(value: FieldValue) -> Any:
    return value.hex() if isinstance(value, bytes) else value
