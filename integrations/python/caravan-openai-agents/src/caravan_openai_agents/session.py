"""A session in which each change is one append.

The journal has records with items, and records of removals of the newest item. Caravan cannot remove values at the end
of a list, because the next append would get a sequence that other clients have already read. The compaction of the
journal deletes removed items from disk.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Hashable
from typing import Any

from agents.items import TResponseInputItem
from agents.memory import SessionABC, SessionSettings
from agents.memory.session_settings import resolve_session_limit
from caravan_client import AsyncConnection, Backwards, CaravanError, Commands, Journal, Moved, Steps, split

# A session is compacted when more than this number, and more than half, of its items and records are obsolete.
COMPACT_DEAD = 64
# The maximum number of replaced records in a compacted one, in case the replies to their appends were lost.
MOST_REPLACED = 64
MOST_TRIES = 100
RECORD_OVERHEAD_BYTES = 128 + 20 * MOST_REPLACED

_log = logging.getLogger(__name__)


class _Contents:
    """The items that were read from a session.

    Attributes:
        items: The items, newest first.
        dead: The number of removed items and of records about removals.
        tokens: The tokens of the newest records, newest first.
    """

    def __init__(self, document: Backwards) -> None:
        self.document = document
        self.items: list[TResponseInputItem] = []
        self.dead = 0
        self.tokens: list[str] = []

    def read(self, limit: int | None) -> Steps[None]:
        taken = 0
        while (records := (yield from self.document.more())) is not None:
            for sequence, record in records:
                self.tokens += [record["token"], *record.get("replaces", ())]
                if "taken" in record:
                    taken += 1
                    self.dead += 1
                for item in reversed((yield from self._items(sequence, record))):
                    if taken:
                        taken -= 1
                        self.dead += 1
                    else:
                        self.items.append(item)
                        if len(self.items) == limit:
                            return

    def _items(self, sequence: int, record: dict[str, Any]) -> Steps[list[TResponseInputItem]]:
        if "parts" not in record:
            return record.get("items", [])
        (blob,) = yield from self.document.blobs([[sequence - distance for distance in record["parts"]]])
        return json.loads(blob)


class CaravanSession(SessionABC):
    """A session with its items in a Caravan document. Use it in only one event loop."""

    session_settings: SessionSettings | None = None

    def __init__(
        self,
        session_id: str,
        *,
        connection: AsyncConnection,
        prefix: str = "sessions/",
        session_settings: SessionSettings | None = None,
    ) -> None:
        """
        Args:
            session_id: The name of the session.
            connection: The connection to the server, which sessions may share.
            prefix: The part of the document's name before the session's name.
            session_settings: `limit` is the number of items that `get_items` returns by default.
        """
        self.session_id = session_id
        self.session_settings = session_settings or SessionSettings()
        self._connection = connection
        self._own_connection: AsyncConnection | None = None
        self._name = prefix + session_id
        self._lock = asyncio.Lock()
        self._journal: Journal | None = None

    @classmethod
    def from_url(cls, session_id: str, *, url: str, prefix: str = "sessions/", **options: Any) -> CaravanSession:
        """Creates a session with its own connection, which `close` closes. `options` are those of `AsyncConnection`."""
        session_settings = options.pop("session_settings", None)
        connection = AsyncConnection(url, **options)
        session = cls(session_id, connection=connection, prefix=prefix, session_settings=session_settings)
        session._own_connection = connection
        return session

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """Returns the newest items or all items, oldest first."""
        limit = resolve_session_limit(limit, self.session_settings)
        if limit is not None and limit <= 0:
            return []
        async with self._lock:
            contents = await self._connection.run(self._read(limit))
            if limit is None and contents.dead > max(COMPACT_DEAD, len(contents.items)):
                try:
                    await self._connection.run(self._compact(contents))
                except CaravanError as error:
                    _log.warning("%s is as it was, and is compacted later: %s", self._name, error)
        return contents.items[::-1]

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Adds items atomically. On return, they have the durability of the server."""
        if items:
            async with self._lock:
                await self._connection.run(self._add(items))

    async def pop_item(self) -> TResponseInputItem | None:
        """Removes and returns the newest item. No other client gets it."""
        async with self._lock:
            return await self._connection.run(self._pop())

    async def clear_session(self) -> None:
        """Removes all items. The empty document keeps its sequences, so readers cannot confuse new items with old."""
        async with self._lock:
            await self._connection.run(self._clear())

    async def close(self) -> None:
        """Closes the session's own connection, if any."""
        if self._own_connection:
            await self._own_connection.aclose()

    def _read(self, limit: int | None) -> Steps[_Contents]:
        for _ in range(MOST_TRIES):
            contents = _Contents(Backwards(self._name))
            try:
                yield from contents.read(limit)
                return contents
            except Moved:
                continue
        raise self._given_up()

    def _add(self, items: list[TResponseInputItem]) -> Steps[None]:
        sequences: dict[tuple[Hashable, int], int] = {}
        for attempt in range(MOST_TRIES):
            if self._journal is None or attempt > 0:
                self._journal = Journal(self._name)
                yield from self._journal.look()
            if (yield from self._write(self._journal, items, sequences)):
                return
        raise self._given_up()

    def _pop(self) -> Steps[TResponseInputItem | None]:
        for _ in range(MOST_TRIES):
            contents = yield from self._read(1)
            if not contents.items:
                return None
            # The append succeeds only directly after the values that were read, so no other client takes this item.
            journal = Journal(self._name, contents.document.first, contents.document.next)
            if (yield from journal.write({}, {}, [lambda _: {"taken": 1}])):
                return contents.items[0]
        raise self._given_up()

    def _clear(self) -> Steps[None]:
        for _ in range(MOST_TRIES):
            journal = Journal(self._name)
            yield from journal.look()
            if journal.first == journal.next:
                return
            trim = ("CARAVAN.TRIM", self._name, "TO", journal.next + 1)
            if (yield from journal.write({}, {}, [lambda _: {"cleared": True}], last_with=(trim,))):
                return
        raise self._given_up()

    def _compact(self, contents: _Contents) -> Steps[bool]:
        """Replaces the records that were read with the remaining items. Returns false if another writer appended."""
        journal = Journal(self._name, contents.document.first, contents.document.next)
        trim = ("CARAVAN.TRIM", self._name, "TO", journal.next)
        return (
            yield from self._write(
                journal, contents.items[::-1], {}, replaces=contents.tokens[:MOST_REPLACED], last_with=(trim,)
            )
        )

    def _write(
        self,
        journal: Journal,
        items: list[TResponseInputItem],
        sequences: dict[tuple[Hashable, int], int],
        *,
        replaces: list[str] | None = None,
        last_with: Commands = (),
    ) -> Steps[bool]:
        text = json.dumps(items, separators=(",", ":")).encode()
        also = {"replaces": replaces} if replaces else {}
        parts: dict[Hashable, list[bytes]] = {}
        if len(text) + RECORD_OVERHEAD_BYTES > self._connection.max_value_bytes:
            parts["items"] = split(text, self._connection.max_value_bytes)

        def record(at: int) -> dict[str, Any]:
            if not parts:
                return {"items": items, **also}
            return {"parts": [at - sequences["items", part] for part in range(len(parts["items"]))], **also}

        return (yield from journal.write(parts, sequences, [record], last_with=last_with))

    def _given_up(self) -> CaravanError:
        return CaravanError(f"{self._name}: others keep appending: given up after {MOST_TRIES} tries")
