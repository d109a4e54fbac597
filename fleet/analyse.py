#!/usr/bin/env python3
"""Analyses captures on a Spark cluster, by the program itself, which reads each from a pipe, once.

  spark-submit fleet/analyse.py CAPTURES.csv TABLES [--program rekeyscope]

CAPTURES.csv has a column uri, and may have keys (a key file) and gateway. Paths without a scheme are those of every machine, relative
ones of the folder where this is started; s3://, gs://, hdfs:// and others are read by fsspec. TABLES is a folder of its own: it gets
TABLE/month=YYYY-MM/spark-….parquet, and captures/ has a row for each uri: analysed, or failed with a sentence. What was analysed is not
analysed again, unless the capture, its keys, its gateway or the version of the document are others; what failed is. The program, fsspec
and pyarrow have to be on every worker.
"""
import argparse
import collections
import csv
import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import tempfile

import fsspec
import pyarrow
from pyarrow import parquet
from pyspark import TaskContext
from pyspark.sql import SparkSession

PIECE = 1 << 20
# A task is repeated as a whole when its worker is lost, and makes one file per table and month. The tables of a thousand captures are some
# 100 MB, and 8 GiB are read in a few minutes.
CAPTURES_PER_TASK = 1000
BYTES_PER_TASK = 8 << 30
# The cost of a start of the program, in bytes that it analyses in the same time (20 ms at 200 MB/s).
START = 4 << 20
# Tasks of each core, so that one long task keeps no other core waiting for long.
TASKS_PER_CORE = 3
# A file appears there as a whole or not at all; elsewhere it is renamed when it is complete.
OBJECT_STORES = {"s3", "s3a", "gs", "gcs", "abfs", "abfss", "az", "oss"}

# Names that file systems give to the mark or the time of a change.
CHANGED = ("ETag", "etag", "mtime", "LastModified", "last_modified", "modificationTime", "updated")


def at(uri):
    return fsspec.core.url_to_fs(uri)


def put(file, uri):
    """Stores a local file under its name when it is complete. What is there stays: the task whose worker was lost may still run beside its
    repetition, and has the same rows."""
    system, path = at(uri)
    if system.exists(path):
        return
    folder, name = path.rsplit("/", 1)
    system.makedirs(folder, exist_ok=True)
    if uri.split("://")[0] in OBJECT_STORES:
        system.put_file(file, path)
    else:
        part = f"{folder}/.{name}.{os.getpid()}.tmp"
        system.put_file(file, part)
        system.mv(part, path)


def mark(group, into):
    """Says that all files of a group are there: those of a group without a mark are removed, and its captures analysed again."""
    system, root = at(into)
    system.makedirs(f"{root}/_done", exist_ok=True)
    system.pipe_file(f"{root}/_done/{group}", b"")


def looked(rows, version):
    """What tells a capture from what it was: its size and time, its keys, its gateway, the version of the document."""
    digests = {}
    for row in rows:
        row = {**row, "bytes": 0, "fingerprint": None, "problem": None}
        try:
            if row["keys"] and row["keys"] not in digests:
                system, path = at(row["keys"])
                digests[row["keys"]] = hashlib.sha256(system.cat_file(path)).hexdigest()
            system, path = at(row["uri"])
            told = system.info(path)
            row["bytes"] = told["size"]
            changed = next((str(told[name]) for name in CHANGED if told.get(name)), None)
            told = [row["bytes"], changed, digests.get(row["keys"]), row["gateway"], version]
            row["fingerprint"] = hashlib.sha256(json.dumps(told).encode()).hexdigest()
        except Exception as error:
            row["problem"] = f"cannot be read: {error}"
        yield row


def known_in(uri):
    """The rows of a file of captures/."""
    system, path = at(uri)
    with system.open(path) as file:
        rows = parquet.ParquetFile(file).read(["uri", "capture", "gateway", "status", "attempts", "fingerprint"]).to_pylist()
    return [{**row, "group": path.rsplit("/", 1)[1].removesuffix(".parquet")} for row in rows]


def without(group, uris, pairs, into):
    """Rewrites the files of a group without the captures with these URIs, and the rows of these digests and gateways."""
    system, root = at(into)
    files = system.glob(f"{root}/*/month=*/{group}.parquet")
    if not system.exists(f"{root}/_done/{group}"):
        # Somebody died here: what is left may be half.
        return [system.rm(path) for path in files]
    system.rm(f"{root}/_done/{group}")
    is_empty = True
    for path in files:
        with system.open(path) as file:
            rows = parquet.ParquetFile(file).read()
        if path.startswith(f"{root}/captures/"):
            keep = [uri not in uris for uri in rows["uri"].to_pylist()]
        else:
            keep = [pair not in pairs for pair in zip(rows["capture"].to_pylist(), rows["gateway"].to_pylist())]
        is_empty = is_empty and not any(keep)
        if not any(keep):
            system.rm(path)
        elif not all(keep):
            with tempfile.NamedTemporaryFile() as file:
                parquet.write_table(rows.filter(pyarrow.array(keep)), file.name, compression="zstd")
                system.rm(path)
                put(file.name, system.unstrip_protocol(path))
    if not is_empty:
        mark(group, into)


def run(program, source, words, folder):
    """The exit status, and what it said."""
    command = [program, "-", "-q", "--format", "csv", "--parquet", "tables", *words]
    threads = {**os.environ, "RAYON_NUM_THREADS": str(TaskContext.get().cpus())}
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(command, cwd=folder, env=threads, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=said)
        try:
            with process.stdin as pipe:
                while piece := source.read(PIECE):
                    pipe.write(piece)
        except BrokenPipeError:
            pass  # It says why it stopped.
        except BaseException:
            process.kill()
            raise
        finally:
            process.wait()
        said.seek(0)
        return process.returncode, said.read().decode(errors="replace").strip()


def analysed(row, program, tables):
    """Adds the tables of one capture, with its row in captures/ whatever happens."""
    with tempfile.TemporaryDirectory() as folder:
        words = ["--gateway", row["gateway"]] if row["gateway"] else []
        made, problem = os.path.join(folder, "tables"), row["problem"]
        try:
            if not problem:
                keys = []
                if row["keys"]:
                    # The folder belongs to the worker's user alone, under its own name.
                    name = os.path.basename(row["keys"])
                    system, path = at(row["keys"])
                    with system.open(path) as source, open(os.open(f"{folder}/{name}", os.O_CREAT | os.O_WRONLY, 0o600), "wb") as file:
                        shutil.copyfileobj(source, file)
                    keys = ["--keys", name]
                system, path = at(row["uri"])
                with system.open(path, compression=None) as source:
                    status, said = run(program, source, words + keys, folder)
                if status not in (0, 1):
                    problem = f"{program} ended with status {status}: {said}"
        except Exception as error:
            problem = f"cannot be read: {error}"
        if problem:
            # The row of a capture that failed is that of an empty one.
            shutil.rmtree(made, ignore_errors=True)
            run(program, io.BytesIO(), words, folder)
        for parent, _, files in os.walk(made):
            for file in files:
                to = os.path.join(tables, os.path.relpath(parent, made))
                os.makedirs(to, exist_ok=True)
                if not os.path.relpath(parent, made).startswith("captures"):
                    # Equal captures of a gateway have the same rows.
                    os.replace(os.path.join(parent, file), os.path.join(to, file))
                    continue
                found = parquet.ParquetFile(os.path.join(parent, file)).read()
                [told] = found.to_pylist()
                told.update(uri=row["uri"], attempts=row["attempts"] + TaskContext.get().attemptNumber(), fingerprint=row["fingerprint"])
                told["problem"] = problem or told["problem"]
                name = hashlib.sha256(row["uri"].encode()).hexdigest()
                parquet.write_table(pyarrow.Table.from_pylist([told], schema=found.schema), os.path.join(to, f"{name}.parquet"), compression="zstd")


def analyse(group, rows, program, into):
    """One task: the tables of its captures, put together. A repetition has the same files."""
    with tempfile.TemporaryDirectory() as folder:
        tables, together = os.path.join(folder, "tables"), os.path.join(folder, "together")
        for row in rows:
            analysed(row, program, tables)
        subprocess.run([program, "compact", "-q", tables, together], check=True)
        for parent, _, files in os.walk(together):
            for file in files:
                put(os.path.join(parent, file), f"{into}/{os.path.relpath(parent, together)}/{group}.parquet")
        mark(group, into)


def cleared(into):
    """Removes what tasks left that were killed and never repeated; gives the files of captures/."""
    system, root = at(into)
    files = system.find(root)
    done = {path.rsplit("/", 1)[1] for path in files if path.startswith(f"{root}/_done/")}
    captures = []
    for path in files:
        name = path.rsplit("/", 1)[1]
        group = name.removesuffix(".parquet")
        if name.endswith(".tmp") or (name.startswith("spark-") and name.endswith(".parquet") and group not in done):
            system.rm(path)
        elif path.startswith(f"{root}/captures/"):
            captures.append(system.unstrip_protocol(path))
    return captures


def groups_of(rows, cores):
    """Many small captures or few large ones per task, the longest task first."""
    cost = lambda row: row["bytes"] + START
    most = min(BYTES_PER_TASK, sum(map(cost, rows)) / (TASKS_PER_CORE * cores))
    groups, size = [], 0
    for row in sorted(rows, key=lambda row: (row["bytes"], row["uri"])):
        if not groups or size + cost(row) > most or len(groups[-1]) == CAPTURES_PER_TASK:
            groups.append([])
            size = 0
        groups[-1].append(row)
        size += cost(row)
    name = lambda group: hashlib.sha256(json.dumps(group).encode()).hexdigest()[:16]
    return [(f"spark-{name(group)}", group) for group in reversed(groups)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("captures"), parser.add_argument("tables"), parser.add_argument("--program", default="rekeyscope")
    asked = parser.parse_args()
    absolute = lambda uri: uri if "://" in uri else os.path.abspath(uri)
    program = absolute(asked.program) if os.path.dirname(asked.program) else asked.program
    into = absolute(asked.tables).rstrip("/")
    said = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout
    version = int(re.search(r"schema_version (\d+)", said)[1])
    system, path = at(absolute(asked.captures))
    with system.open(path, "r", newline="") as file:
        listed = {absolute(row["uri"]): row for row in csv.DictReader(file)}
    listed = [
        {"uri": uri, "keys": absolute(row["keys"]) if row.get("keys") else None, "gateway": row.get("gateway") or None}
        for uri, row in listed.items()
    ]

    spark = SparkSession.builder.appName("rekeyscope").getOrCreate().sparkContext
    spread = lambda work: spark.parallelize(work, max(1, min(len(work), TASKS_PER_CORE * spark.defaultParallelism)))
    at_program = lambda rows: looked(rows, version)
    listed = spread(listed).mapPartitions(at_program).collect()

    known = spread(cleared(into)).flatMap(known_in).collect()
    of_uri = {row["uri"]: row for row in known}
    def is_new(row):
        before = of_uri.get(row["uri"])
        # An analysed capture that is gone stays in the tables.
        return not before or before["status"] != "analysed" or row["fingerprint"] and row["fingerprint"] != before["fingerprint"]
    new = {row["uri"] for row in listed if is_new(row)}
    # Equal captures of a gateway share their rows: where these go, all of them are analysed again.
    pair = lambda row: (row["capture"], row["gateway"])
    gone = {pair(row) for row in known if row["uri"] in new and row["capture"]}
    stale = [row for row in known if row["uri"] in new or pair(row) in gone]
    rewritten = collections.defaultdict(set)
    for row in stale:
        rewritten[row["group"]].add(row["uri"])
    spread(list(rewritten.items())).foreach(lambda work: without(*work, gone, into))

    new |= {row["uri"] for row in stale}
    before = lambda row: of_uri[row["uri"]]["attempts"] if of_uri.get(row["uri"], {}).get("status") == "failed" else 0
    todo = [{**row, "attempts": before(row) + 1} for row in listed if row["uri"] in new]
    groups = groups_of(todo, spark.defaultParallelism)
    spark.parallelize(groups, max(1, len(groups))).foreach(lambda work: analyse(*work, program, into))

    # Equal captures of a gateway that came in different tasks or runs: their rows stay in one file.
    known = spread(cleared(into)).flatMap(known_in).collect()
    holders = collections.defaultdict(set)
    for row in known:
        if row["capture"]:
            holders[pair(row)].add(row["group"])
    twice = collections.defaultdict(set)
    for held, names in holders.items():
        for name in sorted(names)[1:]:
            twice[name].add(held)
    spread(list(twice.items())).foreach(lambda work: without(work[0], set(), work[1], into))
    for status, count in sorted(collections.Counter(row["status"] for row in known).items()):
        print(f"{count} {status}")


if __name__ == "__main__":
    main()
