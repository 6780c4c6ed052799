"""A checkpointer in which each `put` is one append.

The operations are steps (see `caravan_client.connection`). The methods of `CaravanSaver` run them, `put` on the calling
thread, `aput` in the event loop, and so on.
"""

from __future__ import annotations

import asyncio
import random
import threading
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Collection, Hashable, Iterator, Mapping, Sequence
from typing import Any, Generic, TypeVar

import ormsgpack
from caravan_client import AsyncConnection, CaravanError, Commands, Connection, Journal, Moved, Request, Steps, split
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    WRITES_IDX_MAP,
    BaseCheckpointSaver,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    DeltaChannelHistory,
    get_checkpoint_id,
    get_checkpoint_metadata,
    writes_sort_key,
)
from langgraph.checkpoint.serde.base import SerializerProtocol

from caravan_langgraph.documents import (
    History,
    Namespace,
    Pointer,
    Selected,
    Selection,
    StoredCheckpoint,
    StoredWrites,
    MOST_TRIES,
    Thread,
    again,
    new_incarnation,
    thread_ids,
)

T = TypeVar("T")
Lock = TypeVar("Lock")

# The maximum numbers of cached namespaces and checkpoints per namespace. With the cache, a put needs no read.
MOST_NAMESPACES = 1000
MOST_CHECKPOINTS = 100
# The maximum number of names in one command.
MOST_NAMES = 10_000

Serialized = tuple[str, bytes]


class _Known(Generic[Lock]):
    """The cached state of a namespace. Only the holder of the lock appends."""

    def __init__(self, lock: Lock) -> None:
        self.lock = lock
        self.journal: Journal | None = None
        # Pointers to the values of the channels, by checkpoint.
        self.channels: OrderedDict[str, Mapping[str, tuple[Any, Pointer]]] = OrderedDict()
        # The sequences of the writes at a checkpoint. Tasks may make writes before the checkpoint is stored.
        self.writes: OrderedDict[str, list[int]] = OrderedDict()

    def see(self, journal: Journal | None) -> None:
        if journal is None or self.journal is None or self.journal.name != journal.name:
            self.channels.clear()
            self.writes.clear()
        self.journal = journal

    def see_channels(self, checkpoint: StoredCheckpoint) -> None:
        _remember(self.channels, checkpoint.id, checkpoint.channels, MOST_CHECKPOINTS)

    def see_writes(self, history: History) -> None:
        for checkpoint_id, writes in history.writes.items():
            before = [each for each in self.writes.get(checkpoint_id, []) if each >= history.first]
            _remember(self.writes, checkpoint_id, sorted({*before, *writes}), MOST_CHECKPOINTS)

    def writes_at(self, checkpoint_id: str) -> list[int]:
        """Returns the sequences of the stored writes at a checkpoint."""
        return [each for each in self.writes.get(checkpoint_id, []) if self.journal and each >= self.journal.first]

    def pointer(self, checkpoint_id: str | None, channel: str, version: Any) -> Pointer | None:
        """Returns the pointer to a channel's value if it is cached, has this version, and was not trimmed."""
        known, pointer = self.channels.get(checkpoint_id, {}).get(channel, (None, None))
        there = pointer and self.journal and known == version and min(pointer.parts) >= self.journal.first
        return pointer if there else None


class _Side(Generic[Lock]):
    """The cached namespaces of one connection."""

    def __init__(self, connection: Any, new_lock: Callable[[], Lock]) -> None:
        self.connection = connection
        self._new_lock = new_lock
        self._known: OrderedDict[tuple[str, str], _Known[Lock]] = OrderedDict()

    def known(self, thread_id: str, namespace: str) -> _Known[Lock]:
        key = thread_id, namespace
        return _remember(self._known, key, self._known.get(key) or _Known(self._new_lock()), MOST_NAMESPACES)


class CaravanSaver(BaseCheckpointSaver[str]):
    """A checkpointer that stores checkpoints in Caravan. Safe for any number of threads and event loops."""

    def __init__(
        self,
        url: str = "redis://127.0.0.1:6380",
        *,
        prefix: str = "langgraph/",
        serde: SerializerProtocol | None = None,
        **options: Any,
    ) -> None:
        """
        Args:
            url: The RESP address of the server, with user and secret if it requires them.
            prefix: The prefix of the document names.
            serde: The serializer of checkpoints and values.
            options: The options of `caravan_client.Connection`: `timeout`, `patience`, and `max_value_bytes`.
        """
        super().__init__(serde=serde)
        self._prefix = prefix
        self._new_connection: Callable[[], AsyncConnection] = lambda: AsyncConnection(url, **options)
        self._sync = _Side(Connection(url, **options), threading.Lock)
        # Each event loop has its own connections.
        self._async: dict[asyncio.AbstractEventLoop, _Side[asyncio.Lock]] = {}
        self._max_value_bytes = self._sync.connection.max_value_bytes

    # On the calling thread

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        return self._sync.connection.run(self._get(self._sync, config))

    def list(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> Iterator[CheckpointTuple]:
        listing = _Listing(self, config, filter, before, limit)
        while (page := self._sync.connection.run(listing.page())) is not None:
            yield from page

    def get_delta_channel_history(
        self, *, config: RunnableConfig, channels: Sequence[str]
    ) -> Mapping[str, DeltaChannelHistory]:
        return self._sync.connection.run(self._delta_history(self._sync, config, channels))

    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        known = self._sync.known(*_thread_of(config))
        with known.lock:
            return self._sync.connection.run(self._put(known, config, checkpoint, metadata, new_versions))

    def put_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        known = self._sync.known(*_thread_of(config))
        with known.lock:
            self._sync.connection.run(self._put_writes(known, config, writes, task_id, task_path))

    def delete_thread(self, thread_id: str) -> None:
        self._sync.connection.run(self._delete_thread(str(thread_id)))

    def delete_for_runs(self, run_ids: Sequence[str]) -> None:
        self._sync.connection.run(self._delete_for_runs(set(run_ids)))

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        self._sync.connection.run(self._copy_thread(str(source_thread_id), str(target_thread_id)))

    def prune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        self._sync.connection.run(self._prune(thread_ids, strategy))

    def close(self) -> None:
        """Closes the connections of `put` and the other blocking methods. Later calls open new ones."""
        self._sync.connection.close()

    # In the event loop

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        side = self._here()
        return await side.connection.run(self._get(side, config))

    async def alist(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        side = self._here()
        listing = _Listing(self, config, filter, before, limit)
        while (page := await side.connection.run(listing.page())) is not None:
            for each in page:
                yield each

    async def aget_delta_channel_history(
        self, *, config: RunnableConfig, channels: Sequence[str]
    ) -> Mapping[str, DeltaChannelHistory]:
        side = self._here()
        return await side.connection.run(self._delta_history(side, config, channels))

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        side = self._here()
        known = side.known(*_thread_of(config))
        async with known.lock:
            return await side.connection.run(self._put(known, config, checkpoint, metadata, new_versions))

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        side = self._here()
        known = side.known(*_thread_of(config))
        async with known.lock:
            await side.connection.run(self._put_writes(known, config, writes, task_id, task_path))

    async def adelete_thread(self, thread_id: str) -> None:
        await self._here().connection.run(self._delete_thread(str(thread_id)))

    async def adelete_for_runs(self, run_ids: Sequence[str]) -> None:
        await self._here().connection.run(self._delete_for_runs(set(run_ids)))

    async def acopy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        await self._here().connection.run(self._copy_thread(str(source_thread_id), str(target_thread_id)))

    async def aprune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        await self._here().connection.run(self._prune(thread_ids, strategy))

    async def aclose(self) -> None:
        """Closes the connections of `aput` and the other asynchronous methods in this event loop."""
        side = self._async.pop(asyncio.get_running_loop(), None)
        if side:
            await side.connection.aclose()

    def _here(self) -> _Side[asyncio.Lock]:
        loop = asyncio.get_running_loop()
        if loop not in self._async:
            for closed in [each for each in self._async if each.is_closed()]:
                del self._async[closed]
            self._async[loop] = _Side(self._new_connection(), asyncio.Lock)
        return self._async[loop]

    def get_next_version(self, current: str | None, channel: None) -> str:
        """Returns the next number, with a random fraction that distinguishes the branches of a thread."""
        number = 0 if current is None else int(str(current).split(".")[0])
        return f"{number + 1:032}.{random.random():016}"

    # Steps: reading

    def _get(self, side: _Side[Any], config: RunnableConfig) -> Steps[CheckpointTuple | None]:
        thread_id, namespace = _thread_of(config)
        wanted = get_checkpoint_id(config)

        def look() -> Steps[CheckpointTuple | None]:
            thread = Thread(self._prefix, thread_id)
            incarnation = yield from thread.incarnation()
            if incarnation is None:
                return None
            history = History(thread.document(Namespace(namespace, incarnation)))
            while (checkpoints := (yield from history.older())) is not None:
                for checkpoint in checkpoints:
                    if wanted is None or checkpoint.id == wanted:
                        known = side.known(thread_id, namespace)
                        if known.journal is None:
                            known.see(Journal(history.name, history.first, history.next))
                        if known.journal.name == history.name:
                            known.see_channels(checkpoint)
                        return (yield from self._tuple(thread_id, namespace, history, checkpoint))
            return None

        return (yield from again(look))

    def _tuple(
        self, thread_id: str, namespace: str, history: History, stored: StoredCheckpoint
    ) -> Steps[CheckpointTuple]:
        pending = yield from self._pending(history, stored)
        pointers = [stored.body, stored.metadata, *(pointer for _, pointer in stored.channels.values())]
        blobs = yield from history.blobs([pointer.parts for pointer in pointers])
        body, metadata, *values = (
            self.serde.loads_typed((pointer.type, blob)) for pointer, blob in zip(pointers, blobs)
        )
        return CheckpointTuple(
            config=_config(thread_id, namespace, stored.id),
            checkpoint={**body, "channel_values": dict(zip(stored.channels, values))},
            metadata=metadata,
            parent_config=_config(thread_id, namespace, stored.parent) if stored.parent else None,
            pending_writes=[(task, channel, self.serde.loads_typed(value)) for task, channel, value in pending],
        )

    def _pending(self, history: History, stored: StoredCheckpoint) -> Steps[list[tuple[str, str, Serialized]]]:
        """Returns the writes at a checkpoint, in the order in which tasks are applied."""
        several = yield from history.writes_at(stored)
        blobs = yield from history.blobs([each.writes.parts for each in several])
        found: dict[tuple[str, int], tuple[str, str, Serialized]] = {}
        for each, blob in zip(several, blobs):
            for index, channel, type, value in ormsgpack.unpackb(blob):
                # Of several writes with an index, the first counts; of errors, interrupts, and the like, the last one.
                if index < 0 or (each.task, index) not in found:
                    found[each.task, index] = each.path, channel, (type, value)
        keys = sorted(found, key=lambda key: writes_sort_key(found[key][0], *key))
        return [(key[0], *found[key][1:]) for key in keys]

    def _delta_history(
        self, side: _Side[Any], config: RunnableConfig, channels: Sequence[str]
    ) -> Steps[dict[str, DeltaChannelHistory]]:
        """Returns the delta history with one pass from the end of the journal, instead of one for each ancestor."""
        thread_id, namespace = _thread_of(config)

        def look() -> Steps[dict[str, DeltaChannelHistory]]:
            found: dict[str, DeltaChannelHistory] = {channel: {"writes": []} for channel in channels}
            target = yield from self._get(side, config)
            if target is None or target.parent_config is None:
                return found
            remaining, ancestor = set(channels), get_checkpoint_id(target.parent_config)
            incarnation = yield from Thread(self._prefix, thread_id).incarnation()
            history = History(Thread(self._prefix, thread_id).document(Namespace(namespace, incarnation or "")))
            while remaining and ancestor and (checkpoints := (yield from history.older())) is not None:
                for stored in checkpoints:
                    if stored.id != ancestor or not remaining:
                        continue
                    ancestor = stored.parent
                    for task, channel, value in reversed((yield from self._pending(history, stored))):
                        if channel in remaining:
                            found[channel]["writes"].insert(0, (task, channel, self.serde.loads_typed(value)))
                    for channel in remaining & stored.channels.keys():
                        _, pointer = stored.channels[channel]
                        found[channel]["seed"] = yield from history.value(self.serde, pointer)
                        remaining.remove(channel)
            return found

        return (yield from again(look))

    # Steps: writing

    def _put(
        self,
        known: _Known[Any],
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> Steps[RunnableConfig]:
        thread_id, namespace = _thread_of(config)
        versions = checkpoint["channel_versions"]
        values = checkpoint["channel_values"]
        body = {key: value for key, value in checkpoint.items() if key != "channel_values"}
        parent = get_checkpoint_id(config)

        def serialize(key: Hashable) -> Serialized:
            if key == "body":
                return self.serde.dumps_typed(body)
            if key == "metadata":
                return self.serde.dumps_typed(get_checkpoint_metadata(config, metadata))
            return self.serde.dumps_typed(values[key[1]])

        def there() -> dict[Hashable, Pointer]:
            """Returns pointers to the values that the checkpoint shares with its parent."""
            unchanged = [channel for channel in values if channel in versions and channel not in new_versions]
            found = {("channel", each): known.pointer(parent, each, versions[each]) for each in unchanged}
            return {key: pointer for key, pointer in found.items() if pointer}

        def stored(pointers: Mapping[Hashable, Pointer]) -> StoredCheckpoint:
            return StoredCheckpoint(
                checkpoint["id"],
                parent,
                pointers["body"],
                pointers["metadata"],
                {channel: (versions.get(channel), pointers["channel", channel]) for channel in values},
                known.writes_at(checkpoint["id"]),
            )

        keys = ["metadata", "body", *(("channel", channel) for channel in values)]
        _, made = yield from self._append(known, thread_id, namespace, keys, there, serialize, stored)
        known.see_channels(made)
        return _config(thread_id, namespace, checkpoint["id"])

    def _put_writes(
        self,
        known: _Known[Any],
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str,
    ) -> Steps[None]:
        if not writes:
            return
        thread_id, namespace = _thread_of(config)
        checkpoint_id = config["configurable"]["checkpoint_id"]

        def serialize(_: Hashable) -> Serialized:
            rows = [
                (WRITES_IDX_MAP.get(channel, at), channel, *self.serde.dumps_typed(value))
                for at, (channel, value) in enumerate(writes)
            ]
            return "", ormsgpack.packb(rows)

        def stored(pointers: Mapping[Hashable, Pointer]) -> StoredWrites:
            return StoredWrites(checkpoint_id, task_id, task_path, pointers["writes"])

        sequence, _ = yield from self._append(known, thread_id, namespace, ["writes"], dict, serialize, stored)
        sequences = [*known.writes_at(checkpoint_id), sequence]
        _remember(known.writes, checkpoint_id, sequences, MOST_CHECKPOINTS)

    def _append(
        self,
        known: _Known[Any],
        thread_id: str,
        namespace: str,
        keys: Sequence[Hashable],
        there: Callable[[], dict[Hashable, Pointer]],
        serialize: Callable[[Hashable], Serialized],
        stored: Callable[[Mapping[Hashable, Pointer]], Any],
    ) -> Steps[tuple[int, Any]]:
        """Appends values and a record, also after concurrent appends of other writers.

        Args:
            keys: The names of the values to which the record points.
            there: Returns pointers to those values that are already stored.
            serialize: Returns the bytes of a value.
            stored: Returns the record.

        Returns:
            The sequence of the record, and the record.
        """
        thread = Thread(self._prefix, thread_id)
        types: dict[Hashable, str] = {}
        parts: dict[Hashable, list[bytes]] = {}
        sequences: dict[tuple[Hashable, int], int] = {}
        journal, begin, name = known.journal, (), None
        for _ in range(MOST_TRIES):
            if journal is None:
                journal, begin = yield from self._open(known, thread, namespace)
                if journal.name != name:
                    # The thread was deleted together with the values for this record.
                    sequences.clear()
            name = journal.name
            old = there()
            for key in keys:
                if key not in old and key not in parts:
                    types[key], blob = serialize(key)
                    parts[key] = split(blob, self._max_value_bytes)
            missing = {key: parts[key] for key in keys if key not in old}

            def pointers() -> dict[Hashable, Pointer]:
                return old | {
                    key: Pointer(types[key], [sequences[key, part] for part in range(len(missing[key]))])
                    for key in missing
                }

            record = lambda at: stored(pointers()).record(at)  # noqa: E731
            if (yield from journal.write(missing, sequences, [record], first_with=begin)):
                known.see(journal)
                return journal.next - 1, stored(pointers())
            journal = None
        raise _given_up(thread.name)

    def _open(self, known: _Known[Any], thread: Thread, namespace: str) -> Steps[tuple[Journal, Commands]]:
        """Returns the journal, and the commands that its first append needs to add the namespace to the thread."""

        def look() -> Steps[tuple[Journal, Commands]]:
            incarnation = yield from thread.incarnation()
            place = Namespace(namespace, incarnation or new_incarnation())
            history = History(thread.document(place))
            checkpoints = (yield from history.older()) if incarnation else None
            journal = Journal(history.name, history.first, history.next)
            known.see(journal if journal.next else None)
            known.see_writes(history)
            for checkpoint in (checkpoints or [])[:1]:
                known.see_channels(checkpoint)
            if incarnation is None:
                return journal, (thread.beginning([place]),)
            return journal, () if journal.next else (thread.addition(place),)

        return (yield from again(look))

    # Steps: threads as a whole

    def _delete_thread(self, thread_id: str) -> Steps[None]:
        thread = Thread(self._prefix, thread_id)
        for _ in range(MOST_TRIES):
            following, namespaces = yield from thread.namespaces()
            if not namespaces:
                return
            documents = [thread.document(each) for each in namespaces]
            # The name is unique to this incarnation, so it cannot be that of a recreated thread.
            oldest = Journal(documents[0])
            yield from oldest.look()
            nobody_else = ("CARAVAN.APPEND", thread.name, "IFSEQ", following, thread.entry(namespaces[0]))
            names = [thread.name, *documents]
            deletes = [("DEL", *names[at : at + MOST_NAMES]) for at in range(0, len(names), MOST_NAMES)]
            if (yield from oldest.write({}, {}, [lambda _: {"deleted": True}], last_with=(nobody_else, *deletes))):
                return
        raise _given_up(thread.name)

    def _delete_for_runs(self, run_ids: Collection[str]) -> Steps[None]:
        def others(checkpoints: Sequence[Selected]) -> set[str]:
            return {each.stored.id for each in checkpoints if each.metadata.get("run_id") not in run_ids}

        if run_ids:
            for thread_id in (yield from thread_ids(self._prefix)):
                yield from self._rewrite(thread_id, others)

    def _prune(self, thread_ids: Sequence[str], strategy: str) -> Steps[None]:
        if strategy not in ("keep_latest", "delete"):
            raise ValueError(f"prune: the strategy is keep_latest or delete, not {strategy!r}")
        for thread_id in map(str, thread_ids):
            if strategy == "delete":
                yield from self._delete_thread(thread_id)
            else:
                yield from self._rewrite(thread_id, _latest)

    def _rewrite(self, thread_id: str, choose: Callable[[Sequence[Selected]], set[str]]) -> Steps[None]:
        """Appends the chosen checkpoints of each namespace, and trims all earlier values."""
        thread = Thread(self._prefix, thread_id)
        _, namespaces = yield from thread.namespaces()
        for namespace in namespaces:
            name = thread.document(namespace)
            for _ in range(MOST_TRIES):
                selection = yield from again(lambda: Selection.read(name, self.serde, choose))
                if not selection.dropped or (yield from selection.replace()):
                    break
            else:
                raise _given_up(name)

    def _copy_thread(self, source: str, target: str) -> Steps[None]:
        thread, copy = Thread(self._prefix, source), Thread(self._prefix, target)
        taken = ValueError(f"copy_thread: there is a thread {target!r} already: delete it first")
        if (yield from copy.incarnation()) is not None:
            raise taken
        _, namespaces = yield from thread.namespaces()
        incarnation = new_incarnation()
        places = {
            each: Namespace(each.namespace, incarnation)
            for each in namespaces
            if each.incarnation == namespaces[0].incarnation
        }
        documents = [copy.document(place) for place in places.values()]
        for namespace, document in zip(places, documents):
            selection = yield from again(lambda: Selection.read(thread.document(namespace), self.serde, _all))
            # The last append creates the thread, which is not visible before.
            last = (copy.beginning(list(places.values())),) if document == documents[-1] else ()
            if not (yield from selection.write(Journal(document), last)):
                yield Request([("DEL", *documents)])
                raise taken


def _all(checkpoints: Sequence[Selected]) -> set[str]:
    return {each.stored.id for each in checkpoints}


def _latest(checkpoints: Sequence[Selected]) -> set[str]:
    """Returns the newest checkpoint and the ancestors from which its delta channels are computed."""
    newest = checkpoints[0] if checkpoints else None
    if newest is None:
        return set()
    kept, ancestor = {newest.stored.id}, newest.stored.parent
    remaining = set(newest.metadata.get("counters_since_delta_snapshot") or ()) - newest.stored.channels.keys()
    for each in checkpoints:
        if remaining and each.stored.id == ancestor:
            kept.add(each.stored.id)
            remaining -= each.stored.channels.keys()
            ancestor = each.stored.parent
    return kept


def _given_up(name: str) -> CaravanError:
    return CaravanError(f"{name}: others keep appending: given up after {MOST_TRIES} tries")


def _thread_of(config: RunnableConfig) -> tuple[str, str]:
    configurable = config["configurable"]
    return str(configurable["thread_id"]), configurable.get("checkpoint_ns", "")


def _config(thread_id: str, namespace: str, checkpoint_id: str) -> RunnableConfig:
    return {
        "configurable": {"thread_id": thread_id, "checkpoint_ns": namespace, "checkpoint_id": checkpoint_id}
    }


def _remember(known: OrderedDict[Any, T], key: Any, value: T, most: int) -> T:
    known[key] = value
    known.move_to_end(key)
    if len(known) > most:
        known.popitem(last=False)
    return value


class _Listing:
    """A list of checkpoints in pages, newest first."""

    def __init__(
        self,
        saver: CaravanSaver,
        config: RunnableConfig | None,
        filter: dict[str, Any] | None,
        before: RunnableConfig | None,
        limit: int | None,
    ) -> None:
        self._saver = saver
        self._thread_id = None if config is None else _thread_of(config)[0]
        self._namespace = config["configurable"].get("checkpoint_ns") if config else None
        self._wanted = get_checkpoint_id(config) if config else None
        self._before = get_checkpoint_id(before) if before else None
        self._filter = filter or {}
        self._left = limit
        self._places: list[tuple[Thread, Namespace]] | None = None
        self._history: History | None = None
        self._listed: set[str] = set()
        # Whether `before` was found. If it is never found, the result is the checkpoints with lower ids.
        self._passed = False
        self._older_by_id: list[CheckpointTuple] = []

    def page(self) -> Steps[list[CheckpointTuple] | None]:
        """Returns the next checkpoints. The list may be empty. None means that there are no more."""
        if self._left is not None and self._left <= 0:
            return None
        if self._places is None:
            self._places = yield from self._find_places()
        if not self._places:
            return None
        thread, namespace = self._places[0]
        if self._history is None:
            self._history = History(thread.document(namespace))
            self._passed = self._before is None
        try:
            page = yield from self._read(self._history, thread.thread_id, namespace.namespace)
        except Moved:
            # A rewrite has appended the rest again. The list continues there without the checkpoints already listed.
            self._history = None
            self._older_by_id.clear()
            return []
        if page is None:
            page = self._older_by_id
            del self._places[0]
            self._history, self._listed, self._older_by_id = None, set(), []
        else:
            self._listed.update(each.checkpoint["id"] for each in page)
        if self._left is not None:
            page = page[: self._left]
            self._left -= len(page)
        return page

    def _find_places(self) -> Steps[list[tuple[Thread, Namespace]]]:
        prefix = self._saver._prefix
        ids = (yield from thread_ids(prefix)) if self._thread_id is None else [self._thread_id]
        places = []
        for thread in (Thread(prefix, thread_id) for thread_id in ids):
            _, namespaces = yield from thread.namespaces()
            places += [
                (thread, each)
                for each in namespaces
                if each.incarnation == namespaces[0].incarnation and self._namespace in (None, each.namespace)
            ]
        return places

    def _read(self, history: History, thread_id: str, namespace: str) -> Steps[list[CheckpointTuple] | None]:
        checkpoints = yield from history.older()
        if checkpoints is None:
            return None
        page: list[CheckpointTuple] = []
        seen = set(self._listed)
        for stored in checkpoints:
            if stored.id in seen:
                continue
            seen.add(stored.id)
            listed = self._passed
            if not listed and stored.id == self._before:
                self._passed = True
                self._older_by_id.clear()
                continue
            if self._wanted not in (None, stored.id) or (not listed and stored.id >= self._before):
                continue
            metadata = yield from history.value(self._saver.serde, stored.metadata)
            if any(metadata.get(key) != value for key, value in self._filter.items()):
                continue
            target = page if listed else self._older_by_id
            target.append((yield from self._saver._tuple(thread_id, namespace, history, stored)))
            if len(page) == self._left:
                break
        return page
