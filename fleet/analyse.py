#!/usr/bin/env python3
"""Analyses captures on a Spark cluster: one capture per task, by the program itself, which reads it from a pipe.

  spark-submit fleet/analyse.py CAPTURES.csv TABLES [--program rekeyscope]

CAPTURES.csv has a column uri (a path that every worker has, s3://, gs://, hdfs://), and may have keys (uri of a key file) and gateway.
TABLES is a folder or uri; it gets what --parquet writes, and runs/: a row per capture, with its digest, its status (analysed,
unreadable) and a sentence. What has a row there with this schema_version is not done again. A capture that cannot be read is a row,
not a failed task; Spark repeats only what a lost machine had not finished. The program has to be on every worker.
"""
import argparse
import hashlib
import os
import re
import shutil
import subprocess
import tempfile
import threading

import pyarrow
from pyarrow import fs
from pyspark.sql import SparkSession, functions

PIECE = 1 << 20
FOUND = "uri string, keys string, gateway string, digest string, schema_version int, sentence string"
RUN = "uri string, digest string, schema_version int, status string, sentence string"


def opened(uri):
    system, path = fs.FileSystem.from_uri(uri)
    return system.open_input_stream(path, compression=None)


def pieces(stream):
    while piece := stream.read(PIECE):
        yield piece


def copied(uri, to):
    """A key file, for the worker's user alone, under its own name."""
    path = os.path.join(to, os.path.basename(uri))
    with opened(uri) as source, os.fdopen(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600), "wb") as file:
        shutil.copyfileobj(source, file)
    return path


def stored(tables, into):
    """Copies finished files; one is there under its name or not at all. The same capture gives the same names."""
    system, root = fs.FileSystem.from_uri(into)
    # captures/ last: a capture with a row there is complete.
    for table in sorted(os.listdir(tables), key=lambda name: name == "captures"):
        for folder, _, files in os.walk(os.path.join(tables, table)):
            to = "/".join([root, os.path.relpath(folder, tables)])
            for name in files:
                system.create_dir(to)
                part = f"{to}/.{name}.{os.getpid()}.tmp"
                fs.copy_files(os.path.join(folder, name), part, destination_filesystem=system)
                system.move(part, f"{to}/{name}")


def digested(row):
    try:
        digest = hashlib.sha256()
        with opened(row["uri"]) as stream:
            for piece in pieces(stream):
                digest.update(piece)
        return {**row, "digest": digest.hexdigest(), "sentence": None}
    except Exception as error:
        return {**row, "digest": None, "sentence": f"cannot read {row['uri']}: {error}"}


def analysed(row, program, into):
    run = {name: row[name] for name in ("uri", "digest", "schema_version")}
    with tempfile.TemporaryDirectory() as folder:
        try:
            command = [program, "-", "-q", "--format", "csv", "--parquet", "tables"]
            command += ["--gateway", row["gateway"]] if row["gateway"] else []
            command += ["--keys", os.path.basename(copied(row["keys"], folder))] if row["keys"] else []
            process = subprocess.Popen(command, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            said = []
            listener = threading.Thread(target=lambda: said.append(process.stderr.read()))
            listener.start()
            try:
                with opened(row["uri"]) as stream, process.stdin as pipe:
                    for piece in pieces(stream):
                        pipe.write(piece)
            except BrokenPipeError:
                pass  # it says why it stopped
            status = process.wait()
            listener.join()
            if status == 0:
                stored(os.path.join(folder, "tables"), into)
                return {**run, "status": "analysed", "sentence": None}
            return {**run, "status": "unreadable", "sentence": said[0].decode(errors="replace").strip() or f"exit status {status}"}
        except Exception as error:
            return {**run, "status": "unreadable", "sentence": f"{row['uri']}: {error}"}


def in_tasks(spark, rows, work, result):
    """A task per row; each result is handed on as soon as it is there."""
    types = {"string": pyarrow.string(), "int": pyarrow.int32()}
    schema = pyarrow.schema([(name, types[kind]) for name, kind in map(str.split, result.split(", "))])

    def batches(incoming):
        for batch in incoming:
            for row in batch.to_pylist():
                yield pyarrow.RecordBatch.from_pylist([work(row)], schema=schema)

    frame = spark.createDataFrame(spark.sparkContext.parallelize(rows, max(len(rows), 1)), FOUND)
    return frame.mapInArrow(batches, result)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("captures"), parser.add_argument("tables"), parser.add_argument("--program", default="rekeyscope")
    asked = parser.parse_args()
    program, into = asked.program, asked.tables
    said = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout
    version = int(re.search(r"schema_version (\d+)", said)[1])

    spark = SparkSession.builder.appName("rekeyscope").getOrCreate()
    listed = spark.read.csv(asked.captures, header=True)
    for name in ("keys", "gateway"):
        listed = listed if name in listed.columns else listed.withColumn(name, functions.lit(None).cast("string"))
    rows = [(r["uri"], r["keys"], r["gateway"], None, version, None) for r in listed.dropDuplicates(["uri"]).collect()]
    found = in_tasks(spark, rows, digested, FOUND).cache()
    runs = f"{into}/runs"
    system, root = fs.FileSystem.from_uri(into)
    if system.get_file_info(f"{root}/runs").type == fs.FileType.Directory:
        done = spark.read.schema(RUN).parquet(runs).select("digest", "schema_version")
    else:
        done = spark.createDataFrame([], "digest string, schema_version int")
    todo = found.where("digest is not null").dropDuplicates(["digest"]).join(done, ["digest", "schema_version"], "left_anti")
    lost = found.where("digest is null").selectExpr("uri", "digest", "schema_version", "'unreadable' status", "sentence")
    todo = [tuple(row[name.split()[0]] for name in FOUND.split(", ")) for row in todo.collect()]
    made = in_tasks(spark, todo, lambda row: analysed(row, program, into), RUN)
    made.unionByName(lost).write.mode("append").parquet(runs)
    spark.read.schema(RUN).parquet(runs).groupBy("status").count().show()


if __name__ == "__main__":
    main()
