"""A server, and how long to try.

What is done is written once, as steps: a generator that yields requests, is sent their answers, and returns the result.
A `Connection` runs steps on the calling thread, an `AsyncConnection` in an event loop.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Generator, Sequence
from typing import Any, NamedTuple, TypeVar

import redis
import redis.asyncio
from redis.asyncio.retry import Retry as AsyncRetry
from redis.backoff import NoBackoff
from redis.exceptions import (
    ClusterDownError,
    ConnectionError,
    MovedError,
    OutOfMemoryError,
    ResponseError,
    TimeoutError,
)
from redis.retry import Retry

T = TypeVar("T")

FIRST_PAUSE = 0.05
LONGEST_PAUSE = 1.0
# Nothing was changed, and it may work later: there is no room, or another host leads.
TRY_AGAIN = (OutOfMemoryError, ClusterDownError, MovedError)
TRY_AGAIN_PREFIXES = ("RESTORING", "ARCHIVE")


class CaravanError(Exception):
    """The server refused a request, or did not answer in time: then what was to be written may or may not be there."""


class Request(NamedTuple):
    """Commands that go together: one write, or reads, or an atomic transaction."""

    commands: Sequence[tuple[Any, ...]]
    atomic: bool = False


Steps = Generator[Request, list[Any], T]


def checked(answer: Any) -> Any:
    """Returns a command's answer, and raises a `CaravanError` when the command was refused."""
    if isinstance(answer, Exception):
        raise CaravanError(str(answer)) from answer
    return answer


class _Patience:
    def __init__(self, url: str, seconds: float) -> None:
        self._url = url.rpartition("@")[2]
        self._seconds = seconds
        self._deadline = time.monotonic() + seconds
        self._pause = FIRST_PAUSE

    def pause_after(self, error: Exception) -> float:
        """Returns the seconds to wait for before the next attempt."""
        pause = self._pause
        if time.monotonic() + pause > self._deadline:
            raise CaravanError(f"{self._url}: no answer within {self._seconds} s: {error}") from error
        self._pause = min(2 * pause, LONGEST_PAUSE)
        return pause


def _later(answers: list[Any]) -> Exception | None:
    """The answer that says to try again later."""
    for answer in answers:
        if isinstance(answer, TRY_AGAIN) or (isinstance(answer, Exception) and str(answer).startswith(TRY_AGAIN_PREFIXES)):
            return answer
    return None


class _Options:
    def __init__(
        self,
        url: str = "redis://127.0.0.1:6380",
        *,
        timeout: float = 10.0,
        patience: float = 30.0,
        max_value_bytes: int = 1024 * 1024,
    ) -> None:
        """
        Args:
            url: The server's address for RESP, with the user's name and secret if it asks for one, and `rediss:` for TLS.
            timeout: Seconds that one attempt may take.
            patience: Seconds for which a request is tried again while the server is away or has no room.
            max_value_bytes: The server's `--max-value`; what is longer is stored in parts.
        """
        self.url = url
        self.timeout = timeout
        self.patience = patience
        self.max_value_bytes = max_value_bytes

    def _arguments(self) -> dict[str, Any]:
        return {"protocol": 3, "socket_timeout": self.timeout, "socket_connect_timeout": self.timeout}


class Connection(_Options):
    """Connections to a server, for any number of threads."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        # The client must not try again by itself: who tries again must know it.
        self._redis = redis.Redis.from_url(self.url, retry=Retry(NoBackoff(), 0), **self._arguments())

    def run(self, steps: Steps[T]) -> T:
        """Runs steps to their end, and returns their result."""
        try:
            request = next(steps)
            while True:
                request = steps.send(self._request(request))
        except StopIteration as end:
            return end.value

    def _request(self, request: Request) -> list[Any]:
        patience = _Patience(self.url, self.patience)
        while True:
            try:
                answers = self._attempt(request)
                if (error := _later(answers)) is None:
                    return answers
            except (ConnectionError, TimeoutError) as lost:
                error = lost
            time.sleep(patience.pause_after(error))

    def _attempt(self, request: Request) -> list[Any]:
        with self._redis.pipeline(transaction=request.atomic) as pipeline:
            for command in request.commands:
                pipeline.execute_command(*command)
            try:
                return pipeline.execute(raise_on_error=False)
            except ResponseError as refused:
                # A transaction is refused as a whole.
                return [refused] * len(request.commands)

    def close(self) -> None:
        self._redis.close()


class AsyncConnection(_Options):
    """Connections to a server, for one event loop."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._redis = redis.asyncio.Redis.from_url(self.url, retry=AsyncRetry(NoBackoff(), 0), **self._arguments())

    async def run(self, steps: Steps[T]) -> T:
        """Runs steps to their end, and returns their result."""
        try:
            request = next(steps)
            while True:
                request = steps.send(await self._request(request))
        except StopIteration as end:
            return end.value

    async def _request(self, request: Request) -> list[Any]:
        patience = _Patience(self.url, self.patience)
        while True:
            try:
                answers = await self._attempt(request)
                if (error := _later(answers)) is None:
                    return answers
            except (ConnectionError, TimeoutError) as lost:
                error = lost
            await asyncio.sleep(patience.pause_after(error))

    async def _attempt(self, request: Request) -> list[Any]:
        async with self._redis.pipeline(transaction=request.atomic) as pipeline:
            for command in request.commands:
                pipeline.execute_command(*command)
            try:
                return await pipeline.execute(raise_on_error=False)
            except ResponseError as refused:
                # A transaction is refused as a whole.
                return [refused] * len(request.commands)

    async def aclose(self) -> None:
        await self._redis.aclose()
