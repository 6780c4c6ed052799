"""The documents of threads.

A thread has a list of namespaces, and each namespace has a journal. Part of a journal's name is chosen at random when
the thread starts. A thread that is deleted and recreated has other journals, so writers of the old ones notice this.

A journal has two kinds of records: checkpoints, and writes of tasks at a checkpoint. A checkpoint points to the values
of its channels. For unchanged channels, these are values that an earlier checkpoint has stored.
"""

from __future__ import annotations

import hashlib
import secrets
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeVar

from caravan_client import (
    Backwards,
    CaravanError,
    Commands,
    Journal,
    Moved,
    Request,
    Steps,
    blob_of,
    checked,
    decode,
    encode,
)
from langgraph.checkpoint.serde.base import SerializerProtocol

T = TypeVar("T")

LONGEST_NAME_BYTES = 1024
SCANNED_AT_ONCE = 1000
MOST_TRIES = 100


class Pointer(NamedTuple):
    """A pointer to a value: its type according to the serializer, and the sequences of its parts."""

    type: str
    parts: Sequence[int]

    def behind(self, sequence: int) -> list[Any]:
        """Returns the form in a record at this sequence, with short distances instead of sequences."""
        return [self.type, [sequence - part for part in self.parts]]

    @staticmethod
    def ahead(sequence: int, pair: list[Any]) -> Pointer:
        """Returns the pointer for its form in a record at this sequence."""
        type, distances = pair
        return Pointer(type, [sequence - distance for distance in distances])


class StoredCheckpoint(NamedTuple):
    """A checkpoint, and the sequences of those of its writes that were stored before it."""

    id: str
    parent: str | None
    body: Pointer
    metadata: Pointer
    channels: dict[str, tuple[Any, Pointer]]
    writes: list[int]

    def record(self, sequence: int) -> dict[str, Any]:
        return {
            "checkpoint": self.id,
            "parent": self.parent,
            "body": self.body.behind(sequence),
            "metadata": self.metadata.behind(sequence),
            "channels": {name: [version, *at.behind(sequence)] for name, (version, at) in self.channels.items()},
            "writes": [sequence - each for each in self.writes],
        }

    @staticmethod
    def read(sequence: int, record: dict[str, Any]) -> StoredCheckpoint:
        return StoredCheckpoint(
            record["checkpoint"],
            record["parent"],
            Pointer.ahead(sequence, record["body"]),
            Pointer.ahead(sequence, record["metadata"]),
            {
                name: (version, Pointer.ahead(sequence, pair)) for name, (version, *pair) in record["channels"].items()
            },
            [sequence - each for each in record["writes"]],
        )


class StoredWrites(NamedTuple):
    """The writes of a task at a checkpoint, in one blob: index, channel, type, and bytes of each write."""

    checkpoint: str
    task: str
    path: str
    writes: Pointer

    def record(self, sequence: int) -> dict[str, Any]:
        return {
            "writes_at": self.checkpoint,
            "task": self.task,
            "path": self.path,
            "writes": self.writes.behind(sequence),
        }

    @staticmethod
    def read(sequence: int, record: dict[str, Any]) -> StoredWrites:
        return StoredWrites(
            record["writes_at"], record["task"], record["path"], Pointer.ahead(sequence, record["writes"])
        )


class History(Backwards):
    """A read of the checkpoints of a namespace, newest first.

    Attributes:
        writes: The writes that were read until now, by checkpoint and sequence.
    """

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.writes: dict[str, dict[int, StoredWrites]] = defaultdict(dict)

    def older(self) -> Steps[list[StoredCheckpoint] | None]:
        """Returns the next checkpoints, or None if there are no more."""
        checkpoints: list[StoredCheckpoint] = []
        while not checkpoints and (records := (yield from self.more())) is not None:
            for sequence, record in records:
                if "checkpoint" in record:
                    checkpoints.append(StoredCheckpoint.read(sequence, record))
                elif "writes_at" in record:
                    self.writes[record["writes_at"]][sequence] = StoredWrites.read(sequence, record)
        return checkpoints or None

    def value(self, serde: SerializerProtocol, pointer: Pointer) -> Steps[Any]:
        """Returns a value of a checkpoint that `older` has just returned."""
        (blob,) = yield from self.blobs([pointer.parts])
        return serde.loads_typed((pointer.type, blob))

    def writes_at(self, checkpoint: StoredCheckpoint) -> Steps[list[StoredWrites]]:
        """Returns the writes at a checkpoint that `older` has just returned, oldest first."""
        found = dict(self.writes.get(checkpoint.id, {}))
        values = yield from self.fetch(set(checkpoint.writes) - found.keys())
        found.update((sequence, StoredWrites.read(sequence, decode(value))) for sequence, value in values.items())
        return [writes for _, writes in sorted(found.items())]


class Selected(NamedTuple):
    stored: StoredCheckpoint
    metadata: Mapping[str, Any]
    writes: list[StoredWrites]


class Selection:
    """The checkpoints of a namespace that a rewrite keeps, with their writes and values."""

    def __init__(
        self,
        history: History,
        kept: Sequence[Selected],
        early: Sequence[StoredWrites],
        dropped: int,
        values: dict[int, bytes],
    ) -> None:
        self.dropped = dropped
        self._history = history
        self._kept = kept
        self._early = early
        self._values = values

    @staticmethod
    def read(
        name: str, serde: SerializerProtocol, choose: Callable[[Sequence[Selected]], set[str]]
    ) -> Steps[Selection]:
        """Reads an entire namespace. `choose` gets its checkpoints, newest first, and returns the ids of those to keep.

        Raises:
            Moved: The namespace has been trimmed.
        """
        history = History(name)
        found: dict[str, Selected] = {}
        while (checkpoints := (yield from history.older())) is not None:
            for stored in checkpoints:
                if stored.id not in found:
                    metadata = yield from history.value(serde, stored.metadata)
                    found[stored.id] = Selected(stored, metadata, (yield from history.writes_at(stored)))
        chosen = choose(list(found.values()))
        kept = [selected for id, selected in reversed(found.items()) if id in chosen]
        # The writes of tasks whose checkpoint is not stored yet.
        newest = next(iter(found), "")
        early = [
            writes
            for checkpoint_id, several in history.writes.items()
            if checkpoint_id > newest and checkpoint_id not in found
            for _, writes in sorted(several.items())
        ]
        pointers = [pointer for each in kept for pointer in _pointers(each)] + [each.writes for each in early]
        values = yield from history.fetch(part for pointer in pointers for part in pointer.parts)
        return Selection(history, kept, early, len(found) - len(kept), values)

    def replace(self) -> Steps[bool]:
        """Replaces the journal with the kept records. Returns false if another writer has appended."""
        journal = Journal(self._history.name, self._history.first, self._history.next)
        return (yield from self.write(journal, (("CARAVAN.TRIM", journal.name, "TO", journal.next),)))

    def write(self, journal: Journal, last_with: Commands) -> Steps[bool]:
        """Appends the kept records. Returns false if another writer has appended."""
        sequences: dict[tuple[Hashable, int], int] = {}

        def moved(pointer: Pointer) -> Pointer:
            return Pointer(pointer.type, [sequences[part, 0] for part in pointer.parts])

        def checkpoint(stored: StoredCheckpoint, at: int) -> dict[str, Any]:
            channels = {name: (version, moved(pointer)) for name, (version, pointer) in stored.channels.items()}
            anew = stored._replace(
                body=moved(stored.body), metadata=moved(stored.metadata), channels=channels, writes=[]
            )
            return anew.record(at)

        def writes(stored: StoredWrites, at: int) -> dict[str, Any]:
            return stored._replace(writes=moved(stored.writes)).record(at)

        records: list[Callable[[int], dict[str, Any]]] = []
        for each in self._kept:
            records.append(partial(checkpoint, each.stored))
            records += [partial(writes, one) for one in each.writes]
        records += [partial(writes, one) for one in self._early]
        parts = {sequence: [blob_of(value)] for sequence, value in self._values.items()}
        # Appends at least one record, because otherwise other writers would not notice the trim.
        records = records or [lambda _: {"emptied": True}]
        return (yield from journal.write(parts, sequences, records, last_with=last_with))


def _pointers(selected: Selected) -> list[Pointer]:
    channels = [pointer for _, pointer in selected.stored.channels.values()]
    return [selected.stored.body, selected.stored.metadata, *channels, *(each.writes for each in selected.writes)]


class Namespace(NamedTuple):
    namespace: str
    incarnation: str


class Thread:
    """The list of namespaces of a thread."""

    def __init__(self, prefix: str, thread_id: str) -> None:
        self.thread_id = thread_id
        self.name = _name(f"{prefix}threads/", thread_id)
        self._prefix = prefix

    def document(self, namespace: Namespace) -> str:
        """Returns the name of a namespace's journal."""
        begin = f"{self._prefix}checkpoints/{namespace.incarnation}/"
        return _name(begin, f"{self.thread_id}/{namespace.namespace}")

    def incarnation(self) -> Steps[str | None]:
        """Returns the current random part of the journal names, or None if the thread does not exist."""
        (answer,) = yield Request([("LINDEX", self.name, 0)])
        value = checked(answer)
        return None if value is None else decode(value)["incarnation"]

    def namespaces(self) -> Steps[tuple[int, list[Namespace]]]:
        """Returns the sequence of the next namespace, and the namespaces in the order of their creation."""
        (answer,) = yield Request([("CARAVAN.READ", self.name, "FROM", 0)])
        following, entries, *_ = checked(answer)
        records = [decode(value) for _, value in entries]
        return following, list(dict.fromkeys(Namespace(each["namespace"], each["incarnation"]) for each in records))

    def beginning(self, namespaces: Iterable[Namespace]) -> tuple[Any, ...]:
        """Returns the command that creates the thread with its first namespaces, if it does not exist."""
        return "CARAVAN.APPEND", self.name, "IFSEQ", 0, *map(self.entry, namespaces)

    def addition(self, namespace: Namespace) -> tuple[Any, ...]:
        """Returns the command that adds a namespace."""
        return "RPUSH", self.name, self.entry(namespace)

    def entry(self, namespace: Namespace) -> bytes:
        return encode({"thread": self.thread_id, **namespace._asdict()})


def again(steps: Callable[[], Steps[T]]) -> Steps[T]:
    """Runs steps, again each time that the values to read have been replaced."""
    for _ in range(MOST_TRIES):
        try:
            return (yield from steps())
        except Moved as moved:
            last = moved
    raise CaravanError(f"others keep replacing what is to be read: given up after {MOST_TRIES} tries: {last}")


def new_incarnation() -> str:
    return secrets.token_hex(8)


def thread_ids(prefix: str) -> Steps[list[str]]:
    """Returns the ids of all threads, in no particular order."""
    pattern = "".join(f"\\{c}" if c in "*?[]\\" else c for c in f"{prefix}threads/") + "*"
    ids, cursor = [], b"0"
    while True:
        (answer,) = yield Request([("SCAN", cursor, "MATCH", pattern, "COUNT", SCANNED_AT_ONCE, "TYPE", "list")])
        cursor, names = checked(answer)
        if names:
            for first in (yield Request([("LINDEX", name, 0) for name in names])):
                if (value := checked(first)) is not None:
                    ids.append(decode(value)["thread"])
        if int(cursor) == 0:
            return ids


def _name(begin: str, end: str) -> str:
    if len((begin + end).encode()) <= LONGEST_NAME_BYTES:
        return begin + end
    return f"{begin}sha256:{hashlib.sha256(end.encode()).hexdigest()}"
