"""What did the IPsec rekeys in a capture cost? The program `rekeyscope`, from Python.

>>> import rekeyscope
>>> analysis = rekeyscope.analyze("trace.pcapng", keys="router.log")
>>> analysis["impact"][0]["sentence"]
>>> analysis.to_pandas("rekeys")                # or to_polars; table() for any reader of Arrow's PyCapsules
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import warnings
from typing import TYPE_CHECKING, Any, Iterator, Mapping, Sequence, Union

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

__all__ = [
    "Analysis",
    "ArgumentError",
    "CaptureError",
    "ProgramMissingError",
    "RekeyscopeError",
    "TruncatedCaptureWarning",
    "analyze",
    "program",
]

try:
    __version__ = importlib.metadata.version("rekeyscope")
except importlib.metadata.PackageNotFoundError:
    # The sources have no wheel with a version.
    __version__ = "0"

Path = Union[str, "os.PathLike[str]"]
Paths = Union[Path, Sequence[Path]]


class RekeyscopeError(Exception):
    """What the program says when it cannot analyse a capture. Each kind of error is a class of its own."""


class CaptureError(RekeyscopeError):
    """A capture or a key file is missing or cannot be read (exit status 1)."""


class ArgumentError(RekeyscopeError):
    """The options make no sense (exit status 2)."""


class ProgramMissingError(RekeyscopeError):
    """The program is not beside this module."""


class TruncatedCaptureWarning(UserWarning):
    """The capture ends in the middle of a record: what is before it was analysed."""


class Analysis(Mapping):
    """The JSON document, read by its keys, and the tables of `--parquet`.

    Names end with their unit: `_ms` milliseconds, `_s` and `_seconds` seconds, `_bps` and `_mbps` bits and 10^6 bits a second; `bytes`
    are bytes. In the tables durations are `_seconds` and rates `_mbps`, whatever the document has (docs/fleet.md). Times are UTC by the
    capture's clock: RFC 3339 in the document, microseconds in the tables. What is not known is `None`.
    """

    def __init__(self, document: dict[str, Any], tables: dict[str, bytes]) -> None:
        self._document = document
        self._tables = tables

    def __getitem__(self, name: str) -> Any:
        return self._document[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._document)

    def __len__(self) -> int:
        return len(self._document)

    def __repr__(self) -> str:
        return f"<rekeyscope.Analysis of {self._document.get('capture', {}).get('path')!r}>"

    @property
    def dict(self) -> dict[str, Any]:
        """The document, as docs/analysis.schema.json describes it."""
        return self._document

    @property
    def tables(self) -> list[str]:
        """The names of the tables."""
        return sorted(self._tables)

    def table(self, name: str) -> pyarrow.Table:
        """A table as Arrow has it, which other libraries take by `__arrow_c_stream__`. Needs pyarrow."""
        import pyarrow
        from pyarrow import parquet

        return parquet.read_table(pyarrow.BufferReader(self._tables[name]))

    def to_pandas(self, name: str) -> pandas.DataFrame:
        """A table as a data frame of pandas. Needs pyarrow and pandas."""
        return self.table(name).to_pandas()

    def to_polars(self, name: str) -> polars.DataFrame:
        """A table as a data frame of polars. Needs pyarrow and polars."""
        import polars

        return polars.from_arrow(self.table(name))


def program() -> str:
    """The path of the program that came with this module."""
    name = "rekeyscope.exe" if os.name == "nt" else "rekeyscope"
    # An environment; a user's folder; `pip install --target`.
    folders = [sysconfig.get_path("scripts"), os.path.dirname(sys.executable), sysconfig.get_path("scripts", f"{os.name}_user")]
    folders.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "bin"))
    found = next((path for path in (os.path.join(folder, name) for folder in folders) if os.path.exists(path)), shutil.which(name))
    if found is None:
        raise ProgramMissingError("the program rekeyscope is not beside this module: install the package again")
    return found


def analyze(
    path: Paths,
    keys: Paths | None = None,
    *,
    no_keys: bool = False,
    psk_file: Paths | None = None,
    gateway: str | None = None,
    arguments: Sequence[str] = (),
) -> Analysis:
    """Analyses a capture (a path, or several that are pieces of one).

    `keys` and `psk_file` are a path or several; without `keys`, files beside the capture are looked for, as the program does.
    `gateway` names the gateway in the tables. `arguments` are further options of `rekeyscope`, a list of words.

    Raises `CaptureError`, `ArgumentError` or `ProgramMissingError`; warns with `TruncatedCaptureWarning`.
    """
    if isinstance(arguments, (str, bytes)):
        raise TypeError(f"arguments is a list of words, not one string: {str(arguments).split()!r}")
    with tempfile.TemporaryDirectory() as folder:
        tables = os.path.join(folder, "tables")
        command = [program(), "--quiet", "--json", "-", "--parquet", tables]
        captures = _paths(path)
        command += ["--join"] if len(captures) > 1 else []
        command += ["--no-keys"] if no_keys else []
        command += ["--gateway", gateway] if gateway else []
        command += [word for file in _paths(keys) for word in ("--keys", file)]
        command += [word for file in _paths(psk_file) for word in ("--psk-file", file)]
        done = subprocess.run([*command, *arguments, "--", *captures], capture_output=True, check=False)
        if done.returncode != 0:
            kind = {1: CaptureError, 2: ArgumentError}.get(done.returncode, RekeyscopeError)
            raise kind(done.stderr.decode(errors="replace").strip() or f"exit status {done.returncode}")
        document = json.loads(done.stdout)
        if document["capture"].get("truncated_file"):
            text = f"{document['capture']['path']} ends in the middle of a record: what is before it was analysed"
            warnings.warn(text, TruncatedCaptureWarning, stacklevel=2)
        return Analysis(document, dict(_read(tables)))


def _paths(given: Paths | None) -> list[str]:
    if given is None:
        return []
    return [os.fspath(given)] if isinstance(given, (str, os.PathLike)) else [os.fspath(path) for path in given]


def _read(tables: str) -> Iterator[tuple[str, bytes]]:
    for name in os.listdir(tables):
        for folder, _, files in os.walk(os.path.join(tables, name)):
            for file in files:
                with open(os.path.join(folder, file), "rb") as opened:
                    yield name, opened.read()
