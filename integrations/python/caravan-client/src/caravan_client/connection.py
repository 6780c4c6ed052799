"""A server and the retries of requests.

An operation is a generator of steps that yields requests, receives their replies, and returns the result. A
`Connection` runs steps on the calling thread, an `AsyncConnection` in an event loop.
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
    AuthenticationError,
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
# Errors after which nothing has changed and a retry may succeed, for example because there is space or a leader again.
TRY_AGAIN = (OutOfMemoryError, ClusterDownError, MovedError)
TRY_AGAIN_PREFIXES = ("RESTORING", "MOVING", "RATELIMITED", "ARCHIVE")


class CaravanError(Exception):
    """The server rejected a request or did not reply in time. After a timeout, a write may or may not have happened."""


class Request(NamedTuple):
    """Commands that are sent together: one write, several reads, or an atomic transaction."""

    commands: Sequence[tuple[Any, ...]]
    atomic: bool = False


Steps = Generator[Request, list[Any], T]


def checked(answer: Any) -> Any:
    """Returns the reply to a command, or raises a `CaravanError` if the server rejected the command."""
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
        """Returns the number of seconds to wait before the next attempt."""
        if isinstance(error, AuthenticationError):
            raise CaravanError(f"{self._url}: {error}") from error
        pause = self._pause
        if time.monotonic() + pause > self._deadline:
            raise CaravanError(f"{self._url}: no answer within {self._seconds} s: {error}") from error
        self._pause = min(2 * pause, LONGEST_PAUSE)
        return pause


def _later(answers: list[Any]) -> Exception | None:
    """Returns the first reply after which a retry may succeed, or None."""
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
            url: The RESP address of the server, with user and secret if it requires them, and `rediss:` for TLS.
            timeout: The timeout of one attempt in seconds.
            patience: The number of seconds during which a request is retried while the server is unavailable or full.
            max_value_bytes: The server's `--max-value`. Longer values are stored in parts.
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
        # The client library must not retry, because the code that retries must know about it.
        self._redis = redis.Redis.from_url(self.url, retry=Retry(NoBackoff(), 0), **self._arguments())

    def run(self, steps: Steps[T]) -> T:
        """Runs all steps and returns their result."""
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
                # The server has rejected the entire transaction.
                return [refused] * len(request.commands)

    def close(self) -> None:
        self._redis.close()


class AsyncConnection(_Options):
    """Connections to a server, for one event loop."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._redis = redis.asyncio.Redis.from_url(self.url, retry=AsyncRetry(NoBackoff(), 0), **self._arguments())

    async def run(self, steps: Steps[T]) -> T:
        """Runs all steps and returns their result."""
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
                # The server has rejected the entire transaction.
                return [refused] * len(request.commands)

    async def aclose(self) -> None:
        await self._redis.aclose()
