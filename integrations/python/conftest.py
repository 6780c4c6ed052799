"""A server with a temporary directory that tests kill and restart."""

from __future__ import annotations

import itertools
import re
import socket
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

COMMAND = Path(__file__).parents[2] / "scripts" / "caravan"
ANNOUNCED = re.compile(r"RESP on 127\.0\.0\.1:(\d+)")


class Server:
    def __init__(self, data: Path) -> None:
        self._data = data
        self.port = 0

    def start(self) -> None:
        words = [COMMAND, "serve", "--data", self._data, "--archive", "none"]
        words += ["--resp", f"127.0.0.1:{self.port}", "--http", "127.0.0.1:0"]
        self._process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
        for line in self._process.stdout:
            if announced := ANNOUNCED.search(line):
                self.port = int(announced[1])
                # Reads further output, so that the server never blocks.
                threading.Thread(target=self._process.stdout.read, daemon=True).start()
                return
        raise RuntimeError("the server did not start")

    def kill(self) -> None:
        """Sends SIGKILL to the server."""
        self._process.kill()
        self._process.wait()

    def kill_and_restart(self) -> None:
        self.kill()
        self.start()

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}"


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    started = Server(tmp_path_factory.mktemp("caravan"))
    started.start()
    yield started
    started.kill()


_numbers = itertools.count()


@pytest.fixture
def prefix() -> str:
    """Returns a document prefix that no other test uses."""
    return f"test-{next(_numbers)}/"


class LosingProxy:
    """A proxy that drops the reply to every second append and closes the connection."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._appends = itertools.count()
        self.lost = 0
        self._listener = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self._listener.getsockname()[1]}"

    def close(self) -> None:
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        server = socket.create_connection(("127.0.0.1", self._port))
        lose = threading.Event()

        def answers() -> None:
            while data := _receive(server):
                if lose.is_set():
                    self.lost += 1
                    break
                client.sendall(data)
            _shut(client, server)

        threading.Thread(target=answers, daemon=True).start()
        while data := _receive(client):
            if b"CARAVAN.APPEND" in data and next(self._appends) % 2 == 0:
                lose.set()
            server.sendall(data)
        _shut(client, server)


def _receive(connection: socket.socket) -> bytes:
    try:
        return connection.recv(65536)
    except OSError:
        return b""


def _shut(*connections: socket.socket) -> None:
    for connection in connections:
        try:
            connection.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        connection.close()


@pytest.fixture
def losing_proxy(server: Server) -> Iterator[LosingProxy]:
    proxy = LosingProxy(server.port)
    yield proxy
    proxy.close()
