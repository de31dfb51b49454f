"""Tuning records."""

from __future__ import annotations

import pytest

from ingot_cache import Cache, tuning


def test_one_tunes_and_all_agree(cache: Cache) -> None:
    tuned: list[int] = []

    def tune() -> dict[str, int]:
        tuned.append(1)
        return {"block": 128 * len(tuned)}

    what = {"kernel": "matmul", "n": 4096}
    first = tuning.agree(what, tune, cache=cache, samples=3, device="A", driver="1.0")
    assert first["value"] == {"block": 128}
    assert first["provenance"] == {"device": "A", "driver": "1.0"}
    assert first["samples"] == 3
    assert tuning.agree(what, tune, cache=Cache(), samples=9, device="A", driver="1.0") == first
    assert tuning.agree(what, tune, cache=cache, device="B", driver="1.0")["value"] == {"block": 256}


def test_refuses_a_name_that_is_given_twice(cache: Cache) -> None:
    with pytest.raises(ValueError, match="device"):
        tuning.agree({"device": "A"}, dict, cache=cache, device="B")
