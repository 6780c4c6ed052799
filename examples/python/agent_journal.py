"""An agent that survives crashes, because it keeps a journal in Caravan.

Each step that the agent completes is one durable append. Kill the program at any time and run it again: it continues
after the last step that it printed. From time to time, a summary replaces the steps in the journal.

    python agent_journal.py NAME [redis://HOST:PORT]
"""

import sys
import time

from caravan_client import Backwards, Connection, Journal, Steps

PLAN = ["find flights", "compare prices", "book a flight", "find hotels", "book a hotel", "send the itinerary"]
SUMMARIZE_AFTER = 4


def work(step: str) -> str:
    """Stands for a call of a model or a tool."""
    time.sleep(0.2)
    return f"result of '{step}'"


def read(name: str) -> Steps[tuple[Journal, list[dict]]]:
    """Returns the end of the journal, and its records, oldest first."""
    document = Backwards(name)
    records: list[dict] = []
    while (window := (yield from document.more())) is not None:
        records += [record for _, record in window]
    return Journal(name, document.first, document.next), records[::-1]


def append(journal: Journal, record: dict, *commands: tuple) -> Steps[None]:
    """Appends a record, and runs the commands in the same transaction. On return, both are on disk.

    The append contains the sequence that it requires. If its reply is lost, the client therefore sends it again without
    the risk of a duplicate, and of two processes that run the same agent, only one succeeds.
    """
    if not (yield from journal.write({}, {}, [lambda _: record], last_with=commands)):
        sys.exit(f"{journal.name}: another process has appended to this journal; only one process may run an agent")


def main(name: str, url: str = "redis://127.0.0.1:6380") -> None:
    # A request is retried for `patience` seconds while Caravan is unavailable, for example while it restarts.
    connection = Connection(url, patience=30)
    journal, records = connection.run(read(name))
    done: list[dict] = []
    for record in records:
        done = record["summary"] if "summary" in record else [*done, record["done"]]
    print(f"{len(done)} of {len(PLAN)} steps are done", flush=True)
    for step in PLAN[len(done) :]:
        done.append({"step": step, "result": work(step)})
        if len(done) % SUMMARIZE_AFTER == 0:
            # The summary and the trim of the earlier values take effect together or not at all.
            trim = ("CARAVAN.TRIM", name, "TO", journal.next)
            connection.run(append(journal, {"summary": done}, trim))
        else:
            connection.run(append(journal, {"done": done[-1]}))
        print(f"{step}: {done[-1]['result']}", flush=True)
    connection.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
