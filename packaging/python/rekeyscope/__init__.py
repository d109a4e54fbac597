"""What did the IPsec rekeys in a capture cost? The program `rekeyscope`, from Python.

>>> import rekeyscope
>>> analysis = rekeyscope.analyze("trace.pcapng", keys="router.log")
>>> analysis["impact"][0]["sentence"]
>>> analysis.table("rekeys").to_pandas()        # or polars.from_arrow(…), duckdb.from_arrow(…): any reader of Arrow's PyCapsules
"""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile

__all__ = ["Analysis", "RekeyscopeError", "analyze", "program"]


class RekeyscopeError(Exception):
    """What the program says when it cannot analyse a capture."""


class Analysis(dict):
    """The JSON document, and the tables of `--parquet`."""

    _tables = {}

    @property
    def tables(self):
        """The names of the tables."""
        return sorted(self._tables)

    def table(self, name):
        """A table as a `pyarrow.Table`, which other libraries take by `__arrow_c_stream__`. Needs pyarrow."""
        import pyarrow
        from pyarrow import parquet

        return parquet.read_table(pyarrow.BufferReader(self._tables[name]))


def program():
    """The path of the program that came with this module."""
    name = "rekeyscope.exe" if os.name == "nt" else "rekeyscope"
    # An environment; a user's folder; `pip install --target`.
    folders = [sysconfig.get_path("scripts"), os.path.dirname(sys.executable), sysconfig.get_path("scripts", f"{os.name}_user")]
    folders.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "bin"))
    found = next((path for path in (os.path.join(folder, name) for folder in folders) if os.path.exists(path)), shutil.which(name))
    if found is None:
        raise RekeyscopeError("the program rekeyscope is not beside this module: install the package again")
    return found


def analyze(path, keys=None, *, no_keys=False, psk_file=None, gateway=None, arguments=()):
    """Analyses a capture (a path, or several that are pieces of one) and gives an `Analysis`.

    `keys` and `psk_file` are a path or several; without `keys`, files beside the capture are looked for, as the program does.
    `arguments` are further options of `rekeyscope`.
    """
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
            raise RekeyscopeError(done.stderr.decode(errors="replace").strip() or f"exit status {done.returncode}")
        analysis = Analysis(json.loads(done.stdout))
        analysis._tables = dict(_read(tables))
        return analysis


def _paths(given):
    if given is None:
        return []
    return [os.fspath(given)] if isinstance(given, (str, os.PathLike)) else [os.fspath(path) for path in given]


def _read(tables):
    for name in os.listdir(tables):
        for folder, _, files in os.walk(os.path.join(tables, name)):
            for file in files:
                with open(os.path.join(folder, file), "rb") as opened:
                    yield name, opened.read()
