"""Tuning records: one tunes, and all others agree with the result.

    from ingot_cache import tuning

    record = tuning.agree({"kernel": "matmul", "m": 4096}, measure, device=name, driver=version)
    record["value"]

A record is an artifact of the kind "tuning": a JSON object with the value and where it is from.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
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
        begun = time.time()
        value = tune()
        record = {
            "value": value,
            "provenance": {name: _plain(each) for name, each in provenance.items()},
            "samples": samples,
            "made_at": begun,
            "made_in": time.time() - begun,
        }
        return json.dumps(record, sort_keys=True).encode()

    label = " ".join(str(each) for each in fields.values() if isinstance(each, (str, int)))[:200]
    data, _ = (cache or _plug.cache()).get_or_create(key(fields, **provenance), make, label=label)
    return cast("dict[str, Any]", json.loads(data))


def _plain(value: FieldValue) -> Any:
    return value.hex() if isinstance(value, bytes) else value
