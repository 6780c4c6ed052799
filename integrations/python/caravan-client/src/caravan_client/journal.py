"""A document as a journal to which several processes may append.

A value is a JSON record or a part of a blob, to which records point. A blob precedes the record that needs it, so every
record is complete.

Every append contains the sequence that it requires. If the reply to an append is lost, the server rejects the
repetition, and the value at that sequence shows whether the append succeeded. A successful append also proves that its
writer has seen all earlier values. Values are trimmed only in the same transaction as an append, so writers have also
seen all trims.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any

from caravan_client.connection import CaravanError, Request, Steps, checked

# The maximum size of one append, which must fit into a log buffer of the server (4 MiB by default).
MOST_APPEND_BYTES = 3 * 1024 * 1024
VALUE_OVERHEAD_BYTES = 64
FIRST_WINDOW = 8
LONGEST_WINDOW = 512

_BLOB = b"\0"
_TOKEN_BYTES = 8
_BLOB_HEADER_BYTES = len(_BLOB) + _TOKEN_BYTES


Commands = tuple[tuple[Any, ...], ...]


class Moved(Exception):
    """The values to read have been replaced. The caller must start again."""


def split(blob: bytes, max_value_bytes: int) -> list[bytes]:
    """Divides a blob into parts, each of which is stored as a value. An empty blob has one part."""
    room = max_value_bytes - _BLOB_HEADER_BYTES
    return [blob[at : at + room] for at in range(0, max(len(blob), 1), room)]


def blob_of(value: bytes) -> bytes:
    """Returns the part of a blob in a value."""
    return value[_BLOB_HEADER_BYTES:]


def encode(record: Mapping[str, Any]) -> bytes:
    """Encodes a record as a unique value."""
    return json.dumps({**record, "token": secrets.token_hex(_TOKEN_BYTES)}, separators=(",", ":")).encode()


def decode(value: bytes) -> dict[str, Any] | None:
    """Decodes a record. Returns None for a part of a blob."""
    if value[:1] == _BLOB:
        return None
    try:
        record = json.loads(value)
    except ValueError:
        record = None
    if not isinstance(record, dict) or "token" not in record:
        raise CaravanError(f"something else has written to this document: {value[:80]!r}")
    return record


class Journal:
    """The last known state of a document.

    Attributes:
        name: The name of the document.
        first: The first sequence that has not been trimmed.
        next: The sequence of the next value.
    """

    def __init__(self, name: str, first: int = 0, next: int = 0) -> None:
        self.name = name
        self.first = first
        self.next = next

    def look(self) -> Steps[None]:
        """Reads the first and the next sequence of the document."""
        (info,) = yield Request([("CARAVAN.INFO", self.name)])
        self._see(checked(info))

    def write(
        self,
        parts: Mapping[Hashable, list[bytes]],
        sequences: dict[tuple[Hashable, int], int],
        records: Sequence[Callable[[int], Mapping[str, Any]]],
        *,
        first_with: Commands = (),
        last_with: Commands = (),
    ) -> Steps[bool]:
        """Appends blobs and records that point to them in one append, or in several if they are long.

        Args:
            parts: The parts of the blobs, by name.
            sequences: The sequences of stored parts. The method adds those of other parts.
            records: Functions that return a record for its sequence. When they run, `sequences` has all parts.
            first_with: Commands in the transaction of the first append.
            last_with: Commands in the transaction of the last append.

        Returns:
            Whether everything was appended. If not, another writer has appended: call `look` before the next attempt.
        """
        records = list(records)
        while True:
            values: list[bytes] = []
            places: dict[tuple[Hashable, int], int] = {}
            room = MOST_APPEND_BYTES

            def fits(value: bytes) -> bool:
                nonlocal room
                room -= len(value) + VALUE_OVERHEAD_BYTES
                if values and room < 0:
                    return False
                values.append(value)
                return True

            missing = [
                (key, part)
                for key in parts
                for part in range(len(parts[key]))
                if sequences.get((key, part), -1) < self.first
            ]
            for key, part in missing:
                if not fits(_BLOB + secrets.token_bytes(_TOKEN_BYTES) + parts[key][part]):
                    break
                places[key, part] = self.next + len(values) - 1
            sequences.update(places)
            made = 0
            if len(places) == len(missing):
                while made < len(records) and fits(encode(records[made](self.next + len(values)))):
                    made += 1
            complete = len(places) == len(missing) and made == len(records)
            if not (yield from self._append(values, first_with + (last_with if complete else ()))):
                for place in places:
                    del sequences[place]
                return False
            if complete:
                return True
            del records[:made]
            first_with = ()

    def _append(self, values: list[bytes], others: Commands) -> Steps[bool]:
        """Appends values if the first one gets the sequence `next`, and runs other commands in the same transaction."""
        append = ("CARAVAN.APPEND", self.name, "IFSEQ", self.next, *values)
        answer, *rest = yield Request([append, *others], atomic=bool(others))
        if _is(answer, "CONFLICT"):
            if not (yield from self._holds(values)):
                return False
        else:
            for each in (answer, *rest):
                checked(each)
        self.next += len(values)
        return True

    def _holds(self, values: list[bytes]) -> Steps[bool]:
        """Returns whether an append with a lost reply succeeded."""
        (answer,) = yield Request([("CARAVAN.READ", self.name, "FROM", self.next, "COUNT", 1)])
        if _is(answer, "TRIMMED"):
            record = decode(values[-1])
            return record is not None and (yield from self._replaced(record["token"]))
        if _is(answer, "OUTOFRANGE"):
            return False
        _, entries, *_ = checked(answer)
        return [(self.next, values[0])] == [tuple(entry) for entry in entries]

    def _replaced(self, token: str) -> Steps[bool]:
        """Returns whether an existing record replaces the one with this token."""
        while True:
            document = Backwards(self.name)
            try:
                while (records := (yield from document.more())) is not None:
                    if any(token in record.get("replaces", ()) for _, record in records):
                        return True
                return False
            except Moved:
                continue

    def _see(self, info: Mapping[bytes, Any] | None) -> None:
        self.first = info[b"first"] if info else 0
        self.next = info[b"next"] if info else 0


class Backwards(Journal):
    """A backward read of a document from its newest value, in growing windows.

    Attributes:
        values: The values of the last window, by sequence.
    """

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.values: dict[int, bytes] = {}
        self._low: int | None = None
        self._window = FIRST_WINDOW

    def more(self) -> Steps[list[tuple[int, dict[str, Any]]] | None]:
        """Reads the next window.

        Returns:
            The records with their sequences, newest first. None at the start of the document.

        Raises:
            Moved: The next values have been trimmed.
        """
        if self._low is None:
            yield from self.look()
            start = max(self.first, self.next - self._window)
            # INFO follows the read, so a writer that appends at the end of the read also knows about earlier trims.
            read, info = yield Request([("CARAVAN.READ", self.name, "FROM", start), ("CARAVAN.INFO", self.name)])
            entries, end = _entries(read)
            self._see(checked(info))
            self.next = end
        elif self._low > self.first:
            start = max(self.first, self._low - self._window)
            (read,) = yield Request([("CARAVAN.READ", self.name, "FROM", start, "COUNT", self._low - start)])
            entries, _ = _entries(read)
        else:
            return None
        self._low = start
        self._window = min(2 * self._window, LONGEST_WINDOW)
        self.values = dict(entries)
        records = ((sequence, decode(value)) for sequence, value in reversed(entries))
        return [(sequence, record) for sequence, record in records if record is not None]

    def fetch(self, sequences: Iterable[int]) -> Steps[dict[int, bytes]]:
        """Returns values by their sequences. Reads those that are not in the last window.

        Raises:
            Moved: Some values have been trimmed.
        """
        wanted = set(sequences)
        runs: list[list[int]] = []
        for sequence in sorted(wanted - self.values.keys()):
            if runs and sequence == sum(runs[-1]):
                runs[-1][1] += 1
            else:
                runs.append([sequence, 1])
        found = {sequence: self.values[sequence] for sequence in wanted & self.values.keys()}
        if runs:
            reads = [("CARAVAN.READ", self.name, "FROM", start, "COUNT", count) for start, count in runs]
            for answer in (yield Request(reads)):
                found.update(_entries(answer)[0])
        if len(found) < len(wanted):
            raise Moved(f"{self.name}: not all of {sorted(wanted)} are there")
        return found

    def blobs(self, pointers: Sequence[Sequence[int]]) -> Steps[list[bytes]]:
        """Returns blobs by the sequences of their parts.

        Raises:
            Moved: Some parts have been trimmed.
        """
        found = yield from self.fetch(part for pointer in pointers for part in pointer)
        return [b"".join(blob_of(found[part]) for part in pointer) for pointer in pointers]


def _is(answer: Any, *prefixes: str) -> bool:
    return isinstance(answer, Exception) and str(answer).startswith(prefixes)


def _entries(answer: Any) -> tuple[list[tuple[int, bytes]], int]:
    if _is(answer, "TRIMMED", "OUTOFRANGE", "CHANGED"):
        raise Moved(str(answer))
    following, entries, *_ = checked(answer)
    return [(sequence, value) for sequence, value in entries], following
