"""Runs the SqliteSaver of LangGraph on documents that `peers --dump FILE` wrote.

Prints what a checkpoint takes on disk, how many are saved durably in a second, and how long the
newest of a thread takes to read. A document is what a graph of one channel would hold: the
serializer of LangGraph packs it, and SQLite commits it with the settings of the saver.
"""

import json
import pathlib
import sqlite3
import statistics
import sys
import tempfile
import time

from langgraph.checkpoint.base import empty_checkpoint
from langgraph.checkpoint.sqlite import SqliteSaver

READS = 400
WARM_UP = 20


def main() -> None:
    documents = pathlib.Path(sys.argv[1])
    place = sys.argv[2] if len(sys.argv) > 2 else documents.parent
    with tempfile.TemporaryDirectory(prefix="langgraph-", dir=place) as directory:
        measure(documents, pathlib.Path(directory) / "store.sqlite")


def measure(documents: pathlib.Path, path: pathlib.Path) -> None:
    connection = sqlite3.connect(path, check_same_thread=False)
    saver = SqliteSaver(connection)
    saver.setup()
    times, newest, json_bytes = [], {}, 0
    with documents.open() as lines:
        for number, line in enumerate(lines):
            saved = json.loads(line)
            # Without the series around it, as the other rivals count it.
            json_bytes += len(json.dumps(saved["document"], separators=(",", ":")))
            times.append(save(saver, newest, number, saved))
    synchronous = connection.execute("PRAGMA synchronous").fetchone()[0]
    journal = connection.execute("PRAGMA journal_mode").fetchone()[0]
    latest = [read(saver, newest, number) for number in range(WARM_UP + READS)][WARM_UP:]

    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    closed_bytes = path.stat().st_size
    connection.execute("VACUUM")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()

    count = len(times)
    print(f"LangGraph SqliteSaver, synchronous={synchronous}, journal_mode={journal}")
    print(f"checkpoints              {count}")
    print(f"JSON of a checkpoint     {json_bytes / count:.0f} B")
    print(f"a checkpoint, closed     {closed_bytes / count:.0f} B")
    print(f"a checkpoint, compacted  {path.stat().st_size / count:.0f} B")
    print(f"durable save, median     {statistics.median(times) * 1e6:.0f} us")
    print(f"durable saves, 1 thread  {count / sum(times):.0f}/s")
    print(f"latest of a series       {statistics.median(latest) * 1e6:.0f} us")


def save(saver: SqliteSaver, newest: dict, number: int, saved: dict) -> float:
    """Saves a document as the next checkpoint of its series, and returns how long it took."""
    series, document = saved["series"], saved["document"]
    parent = newest.get(series, {}).get("id")
    config = {"configurable": {"thread_id": series, "checkpoint_ns": "", "checkpoint_id": parent}}
    checkpoint = empty_checkpoint()
    checkpoint["channel_values"] = {"state": document}
    checkpoint["channel_versions"] = {"state": number}
    metadata = {"source": "loop", "step": number, "parents": {}}
    start = time.perf_counter()
    saver.put(config, checkpoint, metadata, {"state": number})
    taken = time.perf_counter() - start
    newest[series] = {"id": checkpoint["id"], "document": document}
    return taken


def read(saver: SqliteSaver, newest: dict, number: int) -> float:
    """Reads the newest checkpoint of a series, and returns how long it took."""
    series = list(newest)[number % len(newest)]
    config = {"configurable": {"thread_id": series, "checkpoint_ns": ""}}
    start = time.perf_counter()
    found = saver.get_tuple(config)
    taken = time.perf_counter() - start
    if found.checkpoint["channel_values"]["state"] != newest[series]["document"]:
        sys.exit(f"{series}: what was read is not what was saved")
    return taken


if __name__ == "__main__":
    main()
