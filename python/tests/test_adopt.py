"""Adopted directories. Files of a package stand in for tools, and shell commands write files as those do."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from conftest import Spawn

from ingot_cache import _plug, adopt
from ingot_cache.adopt import KINDS, Adopted, run

MAKE = (
    "mkdir -p $D/one/sub $D/two; echo code >$D/one/a.cubin; echo sub >$D/one/sub/b; echo x >$D/two/c; "
    "chmod +x $D/two/c; : >$D/two/empty"
)

Run = Callable[..., int]
Install = Callable[[str], None]


@pytest.fixture(autouse=True)
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Installs tools, with a function that changes their versions."""
    site = tmp_path / "site"

    def install(version: str) -> None:
        for name in ("warp-lang", "taichi", "tilelang", "torch", "triton", "jaxlib", "flashinfer-python"):
            folder = site / f"{name.replace('-', '_')}-0.dist-info"
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")

    install("1.0")
    monkeypatch.syspath_prepend(str(site))
    monkeypatch.setenv("PYTHONPATH", str(site))
    monkeypatch.setenv("S", str(tmp_path))
    _plug._told.clear()
    yield install
    _plug.set_cache(None)


@pytest.fixture
def adopted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs a shell command with a directory of this name, which is $D."""

    def run_in(name: str, command: str = "true", kind: str = "tilelang") -> int:
        monkeypatch.setenv("D", str(tmp_path / name))
        return run([f"{kind}={tmp_path / name}", "--", "/bin/sh", "-ec", command])

    return run_in


def entries(store: Path) -> list[Path]:
    return sorted(store.rglob("kernel.bin"))


def read(path: Path) -> str:
    return path.read_text() if path.exists() else "(missing)"


def test_fills_another_directory(adopted: Run, tmp_path: Path, store: Path) -> None:
    assert adopted("first", MAKE) == 0
    stored = entries(store)
    look = "ls $D/one/sub/b $D/two/empty >/dev/null; cat $D/one/a.cubin >$S/seen; ls -A $D >$S/names"
    assert adopted("second", look) == 0
    assert read(tmp_path / "seen") == read(tmp_path / "second/one/a.cubin") == "code\n"
    assert read(tmp_path / "names") == "one\ntwo\n"
    umask = os.umask(0)
    os.umask(umask)
    modes = [stat.S_IMODE((tmp_path / "second" / file).stat().st_mode) for file in ("one/a.cubin", "two/c", "two")]
    assert modes == [0o666 & ~umask, 0o777 & ~umask, 0o777 & ~umask]
    assert entries(store) == stored
    assert read(tmp_path / "second/two/c") == "x\n"


def test_adds_what_later_commands_make(adopted: Run, tmp_path: Path) -> None:
    adopted("first", MAKE)
    adopted("second", "mkdir $D/three; echo new >$D/three/d")
    adopted("third", "mkdir $D/four; echo newer >$D/four/e; echo more >$D/one/more")
    adopted("fourth")
    files = ("three/d", "four/e", "one/a.cubin", "one/more")
    assert [read(tmp_path / "fourth" / file) for file in files] == ["new\n", "newer\n", "code\n", "more\n"]


@pytest.mark.parametrize("damaged", ["co", "code and more", ""])
def test_repairs_damaged_files(adopted: Run, tmp_path: Path, damaged: str) -> None:
    adopted("first", MAKE)
    (tmp_path / "first/one/a.cubin").write_text(damaged)
    adopted("first", "cat $D/one/a.cubin >$S/seen")
    assert read(tmp_path / "seen") == "code\n"


def test_leaves_what_the_tool_changes_and_stores_it_with_what_is_new(adopted: Run, tmp_path: Path, store: Path) -> None:
    adopted("first", "echo 1 >$D/metadata.tcb; echo a >$D/a.tic", kind="taichi")
    stored = entries(store)
    adopted("first", "echo used >$D/metadata.tcb", kind="taichi")
    adopted("first", "cat $D/metadata.tcb >$S/seen", kind="taichi")
    assert read(tmp_path / "seen") == "used\n"
    assert entries(store) == stored, "each run would add entries"
    adopted("first", "echo 2 >$D/metadata.tcb; echo b >$D/b.tic", kind="taichi")
    adopted("second", kind="taichi")
    assert [read(tmp_path / "second" / each) for each in ("metadata.tcb", "a.tic", "b.tic")] == ["2\n", "a\n", "b\n"]


def test_other_versions_and_tools_have_other_files(adopted: Run, tools: Install, tmp_path: Path) -> None:
    adopted("first", MAKE)
    adopted("second", kind="triton")
    tools("2.0")
    adopted("third")
    assert not any((tmp_path / name / "one").exists() for name in ("second", "third"))


def test_the_key_names_what_files_depend_on() -> None:
    identity = adopt.identity_of(KINDS["warp"])
    assert identity["versions"].startswith("warp-lang 1.0, ")
    assert all(identity[name] for name in ("device", "driver", "processor"))
    assert adopt.identity_of(KINDS["tilelang"])["processor"] == ""


def test_a_directory_is_left_alone_if_the_tool_is_not_installed(adopted: Run, tmp_path: Path, store: Path) -> None:
    with pytest.warns(_plug.PlugWarning, match="deep_gemm"):
        assert adopted("first", "[ ! -e $D ]; exit 7", kind="deepgemm") == 7
    assert not entries(store)


def test_stores_nothing_in_a_read_only_store(
    adopted: Run, tmp_path: Path, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    adopted("first", MAKE)
    stored = entries(store)
    monkeypatch.setenv("INGOT_PERSIST_READ_ONLY", "1")
    assert adopted("second", "cat $D/one/a.cubin >$S/seen; mkdir $D/three; echo new >$D/three/d") == 0
    assert read(tmp_path / "seen") == "code\n"
    assert entries(store) == stored


def test_a_folder_is_stored_when_two_looks_find_it_the_same(tmp_path: Path) -> None:
    first = Adopted("warp", str(tmp_path / "first"))
    (tmp_path / "first/module").mkdir()
    (tmp_path / "first/module/a").write_text("a part")
    first.look()
    for _ in range(3):  # it grows from look to look
        with (tmp_path / "first/module/a").open("a") as file:
            file.write(" of it")
        first.look()
    second = Adopted("warp", str(tmp_path / "second"))
    second.fill()
    assert not (tmp_path / "second/module").exists()
    first.look()
    second.fill()
    assert read(tmp_path / "second/module/a") == "a part of it of it of it"


def test_a_file_that_changes_while_it_is_read_is_not_stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = Adopted("warp", str(tmp_path / "first"))
    for name in ("a", "b"):
        (tmp_path / "first" / name).write_text("whole")
    reading = adopt._read

    def read_while_another_writes(path: str, *flags: int) -> object:
        data = reading(path, *flags)
        (tmp_path / "first/a").write_text("another")
        return data

    monkeypatch.setattr(adopt, "_read", read_while_another_writes)
    first.look(0)
    second = Adopted("warp", str(tmp_path / "second"))
    second.fill()
    assert os.listdir(tmp_path / "second") == []


@pytest.mark.parametrize("end", ["kill -9 $$", "exit 137"])
def test_what_a_killed_command_leaves_is_not_stored(adopted: Run, tmp_path: Path, end: str) -> None:
    assert adopted("first", f"echo a part >$D/a; {end}") in (-9, 137)
    adopted("second")
    assert os.listdir(tmp_path / "second") == []
    assert adopted("first", f"{MAKE}; exit 3") == 3
    adopted("second")
    assert read(tmp_path / "second/one/a.cubin") == "code\n"


def test_temporary_files_and_locks_are_not_stored(adopted: Run, tmp_path: Path, store: Path) -> None:
    names = (
        "x.lock",
        "lock",
        "tmp.pid_1_2/a",
        "a.tmp",
        "a.tmp.12",
        "tmp/a",
        ".ingot-adopt-x/a",
        "wp_m_p12_t34/m.cubin",
    )
    adopted("first", "".join(f"mkdir -p $(dirname $D/{name}); echo a >$D/{name};" for name in names), kind="warp")
    assert not entries(store)


def test_a_folder_is_written_as_a_whole_or_not_at_all(
    adopted: Run, tmp_path: Path, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    adopted("first", "mkdir $D/one; echo a >$D/one/a; echo b >$D/one/b")
    monkeypatch.setattr(adopt.os, "utime", lambda *_, **__: os.stat("/a full disk"))
    with pytest.warns(_plug.PlugWarning, match="a full disk"):
        adopted("second", '[ -z "$(ls -A $D/one)" ]')
    assert os.listdir(tmp_path / "second/one") == []


def test_a_damaged_entry_is_not_written_and_is_stored_again(adopted: Run, tmp_path: Path, store: Path) -> None:
    adopted("first", "mkdir $D/one; echo content of a >$D/one/a")
    (file,) = (each for each in entries(store) if b"content of a" in each.read_bytes())
    file.write_bytes(file.read_bytes().replace(b"content", b"CONTENT"))
    assert adopted("second", "[ ! -e $D/one ]; mkdir $D/one; echo content of a >$D/one/a") == 0
    adopted("third")
    assert read(tmp_path / "third/one/a") == "content of a\n"


def test_relocates_the_files_that_the_table_names(adopted: Run, tmp_path: Path) -> None:
    make = 'mkdir $D/k; echo "$D/k/a $D/k/b" >$D/k/__grp__k.json; echo $D >$D/k/a'
    adopted("first", make, kind="triton")
    adopted("a longer name", kind="triton")
    there = tmp_path / "a longer name"
    assert read(there / "k/__grp__k.json") == f"{there}/k/a {there}/k/b\n"
    assert read(there / "k/a") == f"{tmp_path / 'first'}\n"


def test_follows_no_links(adopted: Run, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/secret").write_text("secret")
    adopted("first", "mkdir $D/one; ln -s $S/outside/secret $D/one/link; ln -s $S/outside $D/out; echo a >$D/one/a")
    adopted("second")
    assert sorted(str(each.relative_to(tmp_path)) for each in (tmp_path / "second").rglob("*")) == [
        "second/one",
        "second/one/a",
    ]
    (tmp_path / "third").mkdir()
    (tmp_path / "third/one").symlink_to(tmp_path / "outside")
    with pytest.warns(_plug.PlugWarning, match="leads out"):
        adopted("third")
    assert os.listdir(tmp_path / "outside") == ["secret"]


class _Forger(Adopted):
    """Stores what somebody who may write to the store could."""

    def forge(self, units: dict[str, dict[str, bytes]]) -> None:
        for folder, parts in units.items():
            self._cache.put(self._key(folder=folder, content=self._digest(parts)), parts)
        digests = {folder: self._digest(parts) for folder, parts in units.items()}
        self._cache.put(self._key(list="0"), adopt.json.dumps(digests).encode())


@pytest.mark.parametrize("folder", ["..", "../outside", "one/../..", "/tmp/absolute", "one/.", "one//two", "one\0"])
@pytest.mark.parametrize("name", ["a", "../a", "/tmp/a", "."])
def test_a_stored_value_cannot_name_files_outside(tmp_path: Path, folder: str, name: str) -> None:
    _Forger("warp", str(tmp_path / "first")).forge({folder: {"-a": b"a"}, "two": {f"-{name}": b"b"}, "": {"-c": b"c"}})
    directory = tmp_path / "in/second"
    second = Adopted("warp", str(directory))
    with pytest.warns(_plug.PlugWarning):
        second.fill()
    found = {
        str(each.relative_to(tmp_path)) for each in tmp_path.rglob("*") if each.is_file() and each.stat().st_size < 2
    }
    assert found - {"in/second/two/a"} == {"in/second/c"}
    assert not Path("/tmp/absolute").exists() and not Path("/tmp/a").exists()


@pytest.mark.parametrize("garbage", [b"", b"garbage", b"[1]", b'{"a": 1}', b"\xff", b'{"a":' * 100000])
def test_a_list_may_contain_anything(adopted: Run, tmp_path: Path, garbage: bytes) -> None:
    forger = _Forger("tilelang", str(tmp_path / "first"))
    forger._cache.put(forger._key(list="0"), garbage)
    adopted("second", MAKE)
    adopted("third")
    assert read(tmp_path / "third/one/a.cubin") == "code\n"


def test_seals_its_files(adopted: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    adopted("unsealed", MAKE)
    key = str(tmp_path / "key")
    subprocess.run(["ingot", "key", "--pair", key], check=True)
    monkeypatch.setenv("INGOT_PERSIST_TRUST", "require")
    monkeypatch.setenv("INGOT_PERSIST_KEYS", key)
    assert adopted("first", "[ ! -e $D/one ]; mkdir $D/one; echo sealed >$D/one/a.cubin") == 0
    adopted("second")
    assert read(tmp_path / "second/one/a.cubin") == "sealed\n"
    assert not (tmp_path / "second/two").exists()


def test_a_server_without_seals_is_not_used(adopted: Run, store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INGOT_PERSIST_REMOTE", "redis://127.0.0.1:1")
    with pytest.warns(_plug.PlugWarning, match="INGOT_PERSIST_TRUST=require"):
        assert adopted("first", MAKE) == 0
    assert not entries(store)


def test_another_machine_gets_the_files_from_a_server(
    adopted: Run, tmp_path: Path, redis: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = str(tmp_path / "key")
    subprocess.run(["ingot", "key", "--pair", key], check=True)
    for name, value in (("REMOTE", redis), ("TRUST", "require"), ("KEYS", key)):
        monkeypatch.setenv(f"INGOT_PERSIST_{name}", value)
    for name, command in (
        ("first", "mkdir $D/one; for i in $(seq 40); do echo $i >$D/one/$i; done"),
        ("second", "true"),
    ):
        monkeypatch.setenv("INGOT_PERSIST_DIR", str(tmp_path / f"{name}.store"))
        assert adopted(name, command) == 0
    assert read(tmp_path / "second/one/40") == "40\n"


def test_processes_that_store_at_once_lose_nothing(tmp_path: Path, spawn: Spawn) -> None:
    program = """
        import os, sys
        from ingot_cache.adopt import Adopted
        adopted = Adopted("tilelang", sys.argv[1])
        for number in range(10):
            os.makedirs(f"{sys.argv[1]}/{sys.argv[2]}.{number}")
            with open(f"{sys.argv[1]}/{sys.argv[2]}.{number}/file", "w") as file:
                file.write("x")
            adopted.look(0)
    """
    for each in [spawn(program, str(tmp_path / f"of {number}"), str(number)) for number in range(4)]:
        each.communicate()
        assert each.returncode == 0
    Adopted("tilelang", str(tmp_path / "all")).fill()
    assert len(os.listdir(tmp_path / "all")) == 40


def test_each_file_of_a_tuner_is_shared_and_all_agree(tmp_path: Path) -> None:
    """Two processes tune at once, as with XLA's cache per fusion: one fusion is the same."""
    two = [Adopted("xla_autotune", str(tmp_path / name)) for name in "ab"]
    for each, name in zip(two, "ab", strict=True):
        for file in (name, "both", "tmp_per_fusion_cache_1"):
            (tmp_path / name / f"{file}.textproto").write_text(name)
        each.look(0)
    for name in "abc":
        Adopted("xla_autotune", str(tmp_path / name)).fill()
        found = {each.name: each.read_text() for each in (tmp_path / name).glob("[a-c]*")}
        assert found == {"a.textproto": "a", "b.textproto": "b", "both.textproto": "b"}


def test_a_file_to_which_a_tuner_adds_keeps_all(adopted: Run, tmp_path: Path) -> None:
    def add(name: str, **members: int) -> dict[str, int]:
        (tmp_path / name).mkdir(exist_ok=True)
        if members:
            (tmp_path / name / "tuned.json").write_text(json.dumps({"_metadata": 1, **members}))
        adopted(name, kind="flashinfer_autotune")
        found: dict[str, int] = json.loads(read(tmp_path / name / "tuned.json"))
        return found

    add("first", a=1)
    assert add("second", a=2, b=2) == {"_metadata": 1, "a": 1, "b": 2}
    assert add("third") == add("first") == {"_metadata": 1, "a": 1, "b": 2}
    (tmp_path / "third/tuned.json").write_text("{")
    assert add("third") == add("first")
    assert add("other", _metadata=2, a=3) == {"_metadata": 2, "a": 3}


def test_a_command_that_never_ends_has_shared(tmp_path: Path) -> None:
    """The command ends when another directory gets its file, after looks without a pause."""
    wait = """
import sys
from ingot_cache.adopt import Adopted
open(sys.argv[1] + "/kernel", "w").write("made")
while not (other := Adopted("warp", sys.argv[2])).fill() and not other._stored:
    pass
"""
    command = [sys.executable, "-c", wait, str(tmp_path / "first"), str(tmp_path / "second")]
    assert run([f"warp={tmp_path / 'first'}", "--", *command], look_seconds=0.001) == 0
    assert read(tmp_path / "second/kernel") == "made"


def test_exit_statuses_are_the_command_s(adopted: Run, tmp_path: Path) -> None:
    assert [adopted("first", f"exit {code}") for code in (0, 1, 77, 200)] == [0, 1, 77, 200]
    (tmp_path / "plain").write_text("")
    assert run([f"warp={tmp_path / 'first'}", "--", str(tmp_path / "none")]) == 127
    assert run([f"warp={tmp_path / 'first'}", "--", str(tmp_path / "plain")]) == 126


@pytest.mark.parametrize(
    "words", [[], ["warp"], ["warp="], ["=x"], ["unknown=x"], ["warp=x", "--"], ["warp=x", "true"]]
)
def test_refuses_other_words(words: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    assert run([*words, *(["--", "true"] if words and "x" not in words[0] else [])]) == 125
    assert "warp, taichi, tilelang" in capfd.readouterr().err


TRAP = """
    import os, signal, sys
    def tell(number, frame):
        print("got", number, flush=True)
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGINT):
        signal.signal(number, tell)
    print("ready", flush=True)
    while True:
        if sys.stdin.readline() == "":
            sys.exit(5)
"""


def test_signals_reach_the_command_once(tmp_path: Path) -> None:
    arguments = [f"warp={tmp_path / 'first'}", "--", sys.executable, "-c", textwrap.dedent(TRAP)]
    process = subprocess.Popen(
        [sys.executable, "-m", "ingot_cache.adopt", *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout and process.stdin and process.stdout.readline() == "ready\n"
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGINT):
        process.send_signal(number)
        assert process.stdout.readline() == f"got {int(number)}\n"
    assert process.communicate()[0] == ""
    assert process.returncode == 5


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV, signal.SIGINT])
def test_a_signal_that_ends_the_command_ends_the_module(tmp_path: Path, number: signal.Signals) -> None:
    command = ["/bin/sh", "-c", f"ulimit -c 0; kill -{int(number)} $$"]
    process = subprocess.run([sys.executable, "-m", "ingot_cache.adopt", f"warp={tmp_path / 'first'}", "--", *command])
    assert process.returncode == -number


NINJA = (
    "mkdir -p $D/ext; cd $D/ext; printf 'rule join\\n command = cat $in %s/header > $out && echo \"$out: $in "
    "%s/header\" > $out.d && echo ran >> %s/ran\\n depfile = $out.d\\n deps = gcc\\nbuild out: join %s/source\\n' "
    "$S $S $S $S > new; cmp -s new build.ninja || cp new build.ninja; rm new; ninja >/dev/null; cp out $S/seen"
)


def test_what_ninja_built_is_used_if_all_inputs_are_equal(adopted: Run, tmp_path: Path) -> None:
    def build(name: str) -> str:
        (tmp_path / "ran").unlink(missing_ok=True)
        assert adopted(name, NINJA, kind="torch_extensions") == 0
        return ("built " if (tmp_path / "ran").exists() else "") + read(tmp_path / "seen")

    def write(name: str, text: str, hours: int = 1000) -> None:
        (tmp_path / name).write_text(text)
        if hours:
            then = time.time() - 3600 * hours
            os.utime(tmp_path / name, (then, then))

    write("source", "source,")
    write("header", "header")
    assert build("first") == "built source,header"
    assert build("first") == "source,header"
    assert build("second") == "source,header"
    write("header", "header", hours=0)  # newer, but equal
    assert build("third") == "source,header"
    write("header", "HEADER")  # different, but old
    assert build("fourth") == "built source,HEADER"
    assert build("fifth") == "source,HEADER"


@pytest.mark.parametrize("damage", [lambda d: d[:20], lambda d: d[:-1], lambda d: b"# other" + d, lambda d: b""])
def test_a_damaged_list_of_ninja_is_refused(damage: Callable[[bytes], bytes]) -> None:
    deps = b"# ninjadeps\n\4\0\0\0" + b"\x08\0\0\0/a\0\0\xff\xff\xff\xff" + b"\x0c\0\0\x80" + b"\0" * 4 + b"\1" * 8
    assert adopt._convert(adopt.Rule.NINJA_DEPS, deps, b"", b"", 0).endswith(b"\0" * 8)
    with pytest.raises(ValueError):
        adopt._convert(adopt.Rule.NINJA_DEPS, damage(deps), b"", b"", 0)
