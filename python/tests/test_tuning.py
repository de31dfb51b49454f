"""Tuning records."""

from __future__ import annotations

import json
import random
import subprocess
from typing import Any

import pytest
from conftest import Spawn, together

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


def test_eight_processes_agree_on_thirty_winners(spawn: Spawn) -> None:
    """Each would choose its own number."""
    program = """
        import json, random, sys
        from ingot_cache import tuning
        order = random.sample(range(30), 30)
        sys.stdin.readline()
        tuned = []
        winners = {n: tuning.agree({"n": n}, lambda: tuned.append(n) or sys.argv[1])["value"] for n in order}
        print(json.dumps([len(tuned), sorted(winners.items())]))
    """
    processes = [spawn(program, str(rank)) for rank in range(8)]
    counts, winners = zip(*map(json.loads, together(processes)), strict=True)
    assert sum(counts) == 30 and all(each == winners[0] for each in winners)


# What a person would choose, of (value, time, made_at).
CASES = {
    "the only one": ([("a", 2, 1)], "a"),
    "all say the same": ([("a", 2, 1), ("a", 3, 2), ("a", 1, 3)], "a"),
    "a majority, though a single one was faster": ([("a", 1, 1), ("b", 2, 2), ("b", 2, 3)], "b"),
    "the largest of three groups": (
        [*[("a", 9, n) for n in range(3)], *[(v, 1, n) for v in "bc" for n in (1, 2)]],
        "a",
    ),
    "a tie: the faster one": ([("a", 2, 1), ("b", 1, 2)], "b"),
    "a tie: a slow outlier does not decide": (
        [("a", 1, 1), ("a", 1, 2), ("a", 90, 3), *[("b", 2, n) for n in (4, 5, 6)]],
        "a",
    ),
    "a tie: one was measured": ([("a", None, 1), ("b", 5, 2)], "b"),
    "a tie without times: the older one": ([("a", None, 2), ("b", None, 1)], "b"),
    "the same record, seen by many": ([*[("a", 3, 1)] * 5, ("b", 1, 2)], "b"),
    "an equal value with another order of names": (
        [({"x": 1, "y": 2}, 5, 1), ({"y": 2, "x": 1}, 5, 2), ("b", 1, 3)],
        {"x": 1, "y": 2},
    ),
    "a time that is none": ([("a", float("nan"), 1), ("b", -1, 2), ("c", 7, 3)], "c"),
}


@pytest.mark.parametrize("case", CASES)
def test_merged_records_are_what_a_person_would_choose(case: str) -> None:
    given, chosen = CASES[case]
    records: list[dict[str, Any]] = [
        {**tuning.record(value, {"device": "A", "rank": at}, time=time, samples=2), "made_at": at}
        for value, time, at in given
    ]
    merged = tuning.merge(records)
    assert merged["value"] == chosen
    assert merged["provenance"]["device"] == "A"
    distinct = {json.dumps(each, sort_keys=True) for each in records}
    assert {json.dumps(each, sort_keys=True) for each in merged.get("records", [merged])} == distinct
    half = len(records) // 2
    shuffled = random.sample(records, len(records))
    parts = [tuning.merge(each) for each in (shuffled[:half], shuffled[half:]) if each]
    assert json.dumps(tuning.merge(parts)) == json.dumps(merged)


def test_a_merged_record_is_stored_and_shown(cache: Cache) -> None:
    ranks = [tuning.record({"block": b}, {"rank": b}, time=b * 1e-6, samples=3) for b in (128, 64, 128)]
    tuning.put({"kernel": "matmul"}, tuning.merge(ranks), cache=cache, device="A")
    assert tuning.agree({"kernel": "matmul"}, dict, cache=Cache(), device="A")["value"] == {"block": 128}
    rows = show("matmul")[-5:]
    assert rows[0] == ["VALUE", "TIME", "SAMPLES", "MADE", "PROVENANCE"]
    assert rows[1][:4] == ['{"block":128}', "128.0", "us", "6"]
    each = sorted(" ".join([*row[:4], row[-1]]) for row in rows[2:])
    assert each == [f'{{"block":{b}}} {b}.0 us 3 {{"rank":{b}}}' for b in (128, 128, 64)]
    with pytest.raises(ValueError, match="no record"):
        tuning.merge([])


@pytest.mark.parametrize("garbage", ["{}", "[1]", "{", '{"value":{"a":[1]},"records":[5],"time":-1,"samples":1e300}'])
def test_a_record_may_contain_anything(cache: Cache, garbage: str) -> None:
    cache.put(tuning.key({"kernel": "matmul"}), garbage.encode(), label="garbage")
    assert ["label", "garbage"] in show("garbage")


def show(name: str) -> list[list[str]]:
    shown = subprocess.run(["ingot", "show", name], capture_output=True, text=True, check=True).stdout
    return [line.split() for line in shown.splitlines()]
