"""Shares cache directories of tools that have no hook for a cache: python -m ingot_cache.adopt KIND=DIR... -- COMMAND

Fills each directory from the store before the command runs, and stores what the tool adds, within ten seconds and at
the end. The files of a folder are one artifact, because a tool that finds one of them expects the others. Its key has a
digest of the content, so it never changes. Numbered lists, which are artifacts as well, name the folders. A process
appends a list in the turn for the next number, so no list replaces another one. A folder is stored when two looks in a
row find it the same; if the command was killed, at the end, too, because the tool may have left a part of a file. Of
tuners, each file is an artifact, as if it lay in a folder of its own.
"""

from __future__ import annotations

import fnmatch
import hashlib
import json
import os
import re
import resource
import signal
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from enum import Enum
from glob import glob
from importlib import metadata
from typing import NamedTuple

from . import _plug
from ._cache import Cache
from ._errors import IngotError, ReadOnly
from ._key import Key

_TEMPORARY = ".ingot-adopt-"
_PLACEHOLDER = b"@INGOT-ADOPTED-DIRECTORY@"
_INPUTS = (
    "ninja's inputs"  # a part of an artifact. Names of the other parts begin with "x", if it can be executed, or "-"
)
_PASSED = {signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGUSR1, signal.SIGUSR2}


class Rule(Enum):
    """What to do with a file."""

    REPLACE = 1  # its name says what it contains, so a file that differs from the stored one is damaged
    LEAVE = 2  # the tool changes it, so a file that exists is left alone
    RELOCATE = 3  # it contains the directory's path
    NINJA_DEPS = 4  # it contains the times of ninja's outputs and the paths of their inputs
    NINJA_LOG = 5  # it contains the times of ninja's outputs
    MERGE = 6  # a JSON object to which the tool adds members; those that are stored win
    SKIP = 7  # it is not stored, nor is what lies below a folder with such a name


class Kind(NamedTuple):
    packages: str  # of Python; the key contains their versions. The first must exist
    compilers: str = ""  # commands of the shell; the key contains what they say to --version
    has_host_code: bool = False  # files depend on the host's processor
    rules: dict[str, Rule] = {}  # for names of files and folders; REPLACE for all others
    is_by_file: bool = False  # each file is an artifact

    def rule(self, name: str) -> Rule:
        every = {**_TEMPORARIES, **self.rules}.items()
        return next((rule for pattern, rule in every if fnmatch.fnmatchcase(name, pattern)), Rule.REPLACE)


_LOCKS = (f"{_TEMPORARY}*", "*.lock", "lock", "tmp", "tmp.*", "*.tmp", "*.tmp.*", "*.part", ".nfs*")
_TEMPORARIES = dict.fromkeys(_LOCKS, Rule.SKIP)
_NINJA = {".ninja_log": Rule.NINJA_LOG, ".ninja_deps": Rule.NINJA_DEPS}
_ENTRIES = dict.fromkeys(("manifest.json", "[0-9a-f]" * 24 + ".json"), Rule.REPLACE)
_XLA = {"tmp_per_fusion_cache_*": Rule.SKIP}
# Most name files by a hash of what they are made from. Two use ninja, which compares times.
KINDS = {
    "warp": Kind("warp-lang", has_host_code=True, rules={"*_p[0-9]*_t[0-9]*": Rule.SKIP}),
    "taichi": Kind("taichi", has_host_code=True, rules={"*.tcb": Rule.LEAVE, "*metadata*": Rule.LEAVE}),
    "tilelang": Kind("tilelang torch"),
    "deepgemm": Kind("deep_gemm torch", "nvcc"),
    "triton": Kind("triton torch", rules={"__grp__*": Rule.RELOCATE}),
    "torch_extensions": Kind("torch", "${CXX:-c++} nvcc ninja", True, _NINJA),
    "flashinfer": Kind("flashinfer-python torch", "${CXX:-c++} nvcc ninja", True, _NINJA),
    # FLASHINFER_AUTOTUNE_CACHE_DIR, and the folder of a file that autotune(cache=...) names.
    "flashinfer_autotune": Kind("flashinfer-python torch", rules=_ENTRIES | {"*.json": Rule.MERGE}, is_by_file=True),
    # The folder that --xla_gpu_per_fusion_autotune_cache_dir of XLA_FLAGS names.
    "xla_autotune": Kind("jaxlib jax-cuda12-pjrt jax-cuda13-pjrt", rules=_XLA, is_by_file=True),
}


def _text(path: str) -> str:
    with suppress(OSError), open(path, encoding="utf-8", errors="replace") as file:
        return file.read().strip()
    return ""


def identity_of(kind: Kind) -> dict[str, str]:
    """Returns what files depend on besides their paths. The device comes from the kernel, so no driver is loaded."""
    first, *others = kind.packages.split()
    found = [f"{name} {''.join(each.version for each in metadata.distributions(name=name))}" for name in others]
    said = [" ".join(subprocess.getoutput(f"{each} --version").split())[:200] for each in kind.compilers.split()]
    every = [each for each in glob("/sys/bus/pci/devices/*") if _text(f"{each}/class")[:4] in ("0x03", "0x12")]
    devices = {f"{_text(f'{each}/vendor')}:{_text(f'{each}/device')}" for each in every}  # displays and accelerators
    return {
        "versions": ", ".join([f"{first} {metadata.version(first)}", *found, *said, _plug.host()]),
        "device": " ".join(sorted(devices)) or "none",
        "driver": _text("/sys/module/nvidia/version") or _text("/sys/module/amdgpu/version") or "none",
        "processor": _plug.processor() if kind.has_host_code else "",
    }


Stamps = dict[str, tuple[int, ...]]
_LOG_TIME = re.compile(rb"^(\d+\t\d+\t)(\d+)(?=\t)", re.MULTILINE)


def _read(path: str, flags: int = os.O_NOFOLLOW) -> tuple[bytes, os.stat_result]:
    """Reads a file. What is wrong raises OSError or ValueError, here and below, and its folder is left alone."""
    with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | flags), "rb") as file:
        about = os.fstat(file.fileno())
        if not stat.S_ISREG(about.st_mode) or about.st_size > 1 << 30:
            raise ValueError(f"{path} cannot be stored")
        return file.read(), about


def _write(folder: str, contents: Mapping[str, tuple[bytes, int]], now_ns: int) -> None:
    """Writes files with these contents and modes. All are complete before the first one gets its name."""
    with tempfile.TemporaryDirectory(prefix=_TEMPORARY, dir=folder) as temporary:
        for name, (data, mode) in contents.items():
            with open(os.open(f"{temporary}/{name}", os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
                file.write(data)
            os.utime(f"{temporary}/{name}", ns=(now_ns, now_ns))
        for name in contents:
            os.replace(f"{temporary}/{name}", f"{folder}/{name}")


def _deps(data: bytes) -> Iterator[tuple[int, int, bool]]:
    """Yields the begin and the end of each record of a .ninja_deps, and False for those that are paths."""
    at = 16
    if data[:at] != b"# ninjadeps\n\4\0\0\0":
        raise ValueError("another format of .ninja_deps")
    while at < len(data):
        word = int.from_bytes(data[at : at + 4], "little")
        begin, at, is_list = at + 4, at + 4 + (word & 0x7FFFFFFF), bool(word >> 31)
        if at - begin < (12 if is_list else 4) or at > len(data):
            raise ValueError("a damaged .ninja_deps")
        yield begin, at, is_list


def _ninja_inputs(deps: bytes, directory: str) -> tuple[bytes, int]:
    """Returns a digest of the paths and contents of all inputs outside the directory, and when one changed last."""
    digest, newest_ns = hashlib.sha256(), 0
    for path in sorted({os.fsdecode(deps[a : b - 4].rstrip(b"\0")) for a, b, is_list in _deps(deps) if not is_list}):
        if os.path.isabs(path) and not path.startswith(f"{directory}/"):
            data, about = _read(path, 0)
            digest.update(os.fsencode(path) + b"\0" + hashlib.sha256(data).digest())
            newest_ns = max(newest_ns, about.st_mtime_ns)
        elif ".." in path:
            raise ValueError(f"{path} cannot be found from here")
    return digest.digest(), newest_ns


def _convert(rule: Rule, data: bytes, old: bytes, new: bytes, time_ns: int) -> bytes:
    """Replaces the path `old` by `new`, or sets the times of ninja's outputs."""
    if rule is Rule.RELOCATE:
        if new == _PLACEHOLDER and new in data:
            raise ValueError("the file contains the placeholder")
        return data.replace(old, new)
    if rule is Rule.NINJA_LOG:
        return _LOG_TIME.sub(rb"\g<1>%d" % time_ns, data)
    if rule is Rule.NINJA_DEPS:
        made = bytearray(data)
        for begin in (begin for begin, _, is_list in _deps(data) if is_list):
            made[begin + 4 : begin + 12] = time_ns.to_bytes(8, "little")
        return bytes(made)
    return data


def _merge_json(local: bytes, stored: bytes) -> bytes:
    """Returns a file with the members of both, or the local one if they are about different things."""
    other = json.loads(stored)
    try:
        mine = json.loads(local)
    except ValueError:  # it is damaged
        return stored
    if not isinstance(mine, dict) or not isinstance(other, dict) or mine.get("_metadata") != other.get("_metadata"):
        return local
    return local if mine == mine | other else json.dumps(mine | other, indent=2).encode()


class Adopted:
    """A directory, and what the store has of it."""

    def __init__(self, name: str, path: str) -> None:
        self._name, self._kind, self._path = name, KINDS[name], os.path.abspath(path)
        self._cache = Cache(on_miss="compile")
        _plug.set_cache(self._cache)
        self._identity = identity_of(self._kind)
        self._lists = 0  # how many lists are in _stored
        self._stored: dict[str, str] = {}  # the digests of folders, or of files, here and below
        self._seen: dict[str, Stamps] = {}  # folders as the last look found them
        self._done: dict[str, Stamps] = {}  # folders as they were when they were stored or written
        os.makedirs(self._path, exist_ok=True)

    def _key(self, **fields: str) -> Key:
        return _plug.key("adopted", {"tool": self._name, **self._identity, **fields})

    def _digest(self, parts: Mapping[str, bytes]) -> str:
        """Returns a digest that does not depend on what the tool changes in every run."""
        every = [(part, b"" if self._kind.rule(part[1:]) is Rule.LEAVE else parts[part]) for part in sorted(parts)]
        whole = repr([(part, hashlib.sha256(data).digest()) for part, data in every])
        return hashlib.sha256(whole.encode()).hexdigest()

    def _stamps(self, folder: str, names: Iterable[str]) -> Stamps:
        """Returns what changes if a file changes, for those that are regular files and are not skipped."""
        found: Stamps = {}
        for name in names:
            with suppress(OSError):
                about = os.lstat(os.path.join(self._path, folder, name))
                if stat.S_ISREG(about.st_mode) and self._kind.rule(name) is not Rule.SKIP:
                    found[name] = about.st_ino, about.st_size, about.st_mtime_ns, about.st_ctime_ns, about.st_mode
        return found

    def _units(self, folder: str, names: Iterable[str]) -> Iterator[tuple[str, Stamps]]:
        """Yields what is an artifact: the folder, or each of its files."""
        files = self._stamps(folder, names)
        if not self._kind.is_by_file:
            yield folder, files
        for name in files if self._kind.is_by_file else ():
            yield os.path.join(folder, name), {name: files[name]}

    def _folder_of(self, unit: str) -> str:
        return os.path.dirname(unit) if self._kind.is_by_file else unit

    def _here(self, unit: str, whole: str) -> Stamps:
        """Returns the files that an artifact has in this directory."""
        if self._kind.is_by_file:
            return self._stamps(self._folder_of(unit), [os.path.basename(unit)])
        return self._stamps(unit, os.listdir(whole) if os.path.isdir(whole) else ())

    def _parts(self, folder: str, files: Stamps) -> dict[str, bytes]:
        """Returns files as they are stored, if they have these stamps."""
        parts = {}
        for name in files:
            data, about = _read(os.path.join(self._path, folder, name))
            rule = self._kind.rule(name)
            if rule is Rule.NINJA_DEPS:
                log = _read(os.path.join(self._path, folder, ".ninja_log"))[0]
                parts[_INPUTS], newest_ns = _ninja_inputs(data, self._path)
                if newest_ns >= min(filter(None, map(int, (each[1] for each in _LOG_TIME.findall(log)))), default=0):
                    raise ValueError("an input has changed since the outputs were built")
            data = _convert(rule, data, os.fsencode(self._path), _PLACEHOLDER, 0)
            parts[("x" if about.st_mode & stat.S_IXUSR else "-") + name] = data
        if self._stamps(folder, files) != files:
            raise ValueError("a file changes")
        return parts

    def _merge(self, data: bytes) -> None:
        """Adds a list, which may contain anything."""
        self._lists += 1
        with suppress(ValueError, AttributeError, RecursionError):
            self._stored.update((folder, str(digest)) for folder, digest in json.loads(data).items())

    def fill(self) -> None:
        """Writes the folders that the store has."""
        while (data := self._cache.get(self._key(list=str(self._lists)))) is not None:
            self._merge(data)
        for unit, digest in list(self._stored.items()):
            self._fill_unit(unit, digest)

    @_plug.guarded
    def _fill_unit(self, unit: str, digest: str) -> None:
        top, now_ns, folder = os.path.realpath(self._path), time.time_ns(), self._folder_of(unit)
        whole = os.path.join(top, folder) if folder else top
        if os.path.realpath(whole) != whole or not f"{whole}/".startswith(f"{top}/"):
            raise ValueError(f"{unit!r} leads out of {self._path}")
        here, mine, contents = self._here(unit, whole), {}, {}
        with suppress(OSError, ValueError):
            mine = self._parts(folder, here)
        if self._digest(mine) != digest:
            parts = self._cache.get_parts(self._key(folder=unit, content=digest))
            if parts is None or self._digest(parts) != digest:
                del self._stored[unit]  # so that it is stored again
                return
            inputs, deps = parts.pop(_INPUTS, b""), parts.get("-.ninja_deps", b"")
            if inputs and (here or _ninja_inputs(deps, self._path)[0] != inputs):
                return  # ninja itself builds again what it has built here
            for part in sorted(parts, key=lambda part: self._kind.rule(part[1:]).value):  # logs and groups come last
                name, rule = part[1:], self._kind.rule(part[1:])
                if name in ("", ".", "..") or "/" in name or rule is Rule.SKIP:
                    raise ValueError(f"{name!r} is not the name of a file")
                if rule is Rule.MERGE and part in mine:
                    parts[part] = _merge_json(mine[part], parts[part])
                if parts[part] != mine.get(part) and not (rule is Rule.LEAVE and name in here):
                    data = _convert(rule, parts[part], _PLACEHOLDER, os.fsencode(self._path), now_ns)
                    contents[name] = data, 0o777 if part[0] == "x" else 0o666
            os.makedirs(whole, exist_ok=True)
            _write(whole, contents, now_ns)
            here = self._here(unit, whole)
            if self._digest(parts) != digest or not here.keys() <= {part[1:] for part in parts}:
                here = {}  # so that it is stored again
        self._done[unit] = here

    @_plug.guarded
    def look(self, code: int | None = None) -> None:
        """Stores the folders that are as the last look found them; all others, too, if the command ended by itself."""
        is_last = code is not None and 0 <= code < 128  # a shell says by 128 or more that a signal ended it
        news, settled = {}, {}
        for path, folders, names in os.walk(self._path):
            folder = path[len(self._path) + 1 :]
            folders[:] = [each for each in folders if self._kind.rule(each) is not Rule.SKIP]
            for unit, files in self._units(folder, names):
                seen, self._seen[unit] = self._seen.get(unit), files
                if not files or files == self._done.get(unit) or (files != seen and not is_last):
                    continue
                try:
                    parts = self._parts(folder, files)
                    digest = self._digest(parts)
                    if digest != self._stored.get(unit):
                        self._cache.put(self._key(folder=unit, content=digest), parts, label=unit or self._name)
                        news[unit] = digest
                except ReadOnly:
                    return
                except IngotError as error:
                    _plug.tell(f"{self._name}: {unit!r} was not stored: {error}")
                    continue
                except (OSError, ValueError):
                    pass  # it cannot be stored, unless it changes
                settled[unit] = files
        mine = json.dumps(news).encode()
        while news.items() - self._stored.items():
            with self._cache.begin(self._key(list=str(self._lists)), wait=5) as turn:
                if turn.value is None:
                    turn.finish(mine, label=f"list {self._lists} of {self._name}")
                self._merge(turn.value or mine)
        self._done.update(settled)
        if code is not None:
            self._cache.flush(60)  # until the server, if there is one, has everything


def run(arguments: list[str], look_seconds: float = 3.0) -> int:
    """Runs a command with adopted directories, and returns its exit status, or the negative number of a signal."""
    at = arguments.index("--") if "--" in arguments else len(arguments)
    command, pairs = arguments[at + 1 :], [each.partition("=")[::2] for each in arguments[:at]]
    if not pairs or not command or any(kind not in KINDS or not path for kind, path in pairs):
        print("usage: python -m ingot_cache.adopt KIND=DIR... -- COMMAND; KIND:", ", ".join(KINDS), file=sys.stderr)
        return 125
    passed = {each for each in _PASSED if signal.getsignal(each) is not signal.SIG_IGN}
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {*passed, signal.SIGCHLD})  # in the library's threads, too
    adopted: list[Adopted] = []
    try:
        for kind, path in pairs:
            try:
                each = Adopted(kind, path)
                if _plug.may_load_code(f"{kind}'s directory"):
                    each.fill()
                    adopted.append(each)
            except (IngotError, ImportError, OSError) as error:
                _plug.tell(f"{path} is left alone: {error}")
        for number in signal.sigpending() & passed:
            return -int(number)
        try:
            ignored = (signal.SIGPIPE, signal.SIGXFSZ)  # by Python
            pid = os.posix_spawnp(command[0], command, os.environ, setsigmask=mask, setsigdef=ignored)
        except OSError as error:
            print(f"ingot_cache.adopt: {command[0]}: {error.strerror}", file=sys.stderr)
            return 127 if isinstance(error, FileNotFoundError) else 126
        while not (ended := os.waitpid(pid, os.WNOHANG))[0]:
            signaled = signal.sigtimedwait({*passed, signal.SIGCHLD}, look_seconds)
            if signaled is None:
                for each in adopted:
                    each.look()
            elif signaled.si_signo in passed and signaled.si_code <= 0:  # a process sent it, and not the terminal
                os.kill(pid, signaled.si_signo)
        code = os.waitstatus_to_exitcode(ended[1])
        for each in adopted:
            each.look(code)
        return code
    finally:
        while signal.sigtimedwait(passed, 0) is not None:
            pass  # it came too late for the command
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)


if __name__ == "__main__":
    code = run(sys.argv[1:])
    if code < 0:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # one core dump, the command's, is enough
        if code != -signal.SIGKILL:
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    sys.exit(code if code >= 0 else 128 - code)
