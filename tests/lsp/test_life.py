"""How a server begins and ends, and what does not end it."""

from __future__ import annotations

import asyncio
import json
import socket
import subprocess
import sys
import threading
from pathlib import Path
from typing import IO, Any

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException, JsonRpcInvalidParams
from pygls.lsp.client import LanguageClient

from fullgraph.codemods.lsp.actions import FIX_PROJECT
from tests.lsp.client import COMMAND, PATIENCE
from tests.lsp.conftest import Start

HELLO = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"capabilities": {}}}
SHUTDOWN = {"jsonrpc": "2.0", "id": 2, "method": "shutdown"}
EXIT = {"jsonrpc": "2.0", "method": "exit"}


class Pipes:
    """A client without manners."""

    def __init__(self) -> None:
        self.server = subprocess.Popen(
            COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0
        )
        self.watchdog = threading.Timer(PATIENCE, self.server.kill)
        self.watchdog.start()

    def send(self, message: Any) -> None:
        self.send_raw(json.dumps(message).encode())

    def send_raw(self, body: bytes) -> None:
        stream: IO[bytes] = self.server.stdin  # type: ignore[assignment]
        stream.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)

    def answer(self, wanted: int) -> dict[str, Any]:
        while True:
            message = self._read()
            if message.get("id") == wanted:
                return message

    def _read(self) -> dict[str, Any]:
        stream: IO[bytes] = self.server.stdout  # type: ignore[assignment]
        length = 0
        while line := stream.readline().strip():
            if line.startswith(b"Content-Length"):
                length = int(line.split(b":")[1])
        body = b""
        while len(body) < length:
            body += stream.read(length - len(body))
        message: dict[str, Any] = json.loads(body)
        return message

    def end(self) -> tuple[int, str]:
        _, said = self.server.communicate()
        self.watchdog.cancel()
        return self.server.returncode, said.decode()


def test_it_ends_well_after_a_shutdown() -> None:
    pipes = Pipes()
    pipes.send(HELLO)
    told = pipes.answer(1)["result"]
    assert told["serverInfo"]["name"] == "fullgraph"
    assert told["capabilities"]["positionEncoding"] == "utf-16"
    assert "source.fixAll.fullgraph" in told["capabilities"]["codeActionProvider"]["codeActionKinds"]
    pipes.send(SHUTDOWN)
    assert pipes.answer(2)["result"] is None
    pipes.send(EXIT)
    assert pipes.end() == (0, "")


def test_it_ends_with_1_when_the_editor_is_gone() -> None:
    pipes = Pipes()
    pipes.send(HELLO)
    pipes.answer(1)
    assert pipes.server.stdin
    pipes.server.stdin.close()
    pipes.server.stdin = None
    assert pipes.end()[0] == 1


def test_nonsense_does_not_end_it() -> None:
    pipes = Pipes()
    pipes.send(HELLO)
    pipes.answer(1)
    pipes.send_raw(b"{not json")
    pipes.send({"jsonrpc": "2.0", "id": 5, "method": "no/such/method", "params": {}})
    assert "error" in pipes.answer(5)
    pipes.send({"jsonrpc": "2.0", "id": 6, "method": "workspace/executeCommand", "params": {"command": "no.such"}})
    assert "error" in pipes.answer(6)
    place = {"textDocument": {"uri": "file:///nowhere/at/all.py"}, "position": {"line": 0, "character": 0}}
    pipes.send({"jsonrpc": "2.0", "id": 7, "method": "textDocument/hover", "params": place})
    assert pipes.answer(7)["result"] is None
    pipes.send(SHUTDOWN)
    pipes.answer(2)
    pipes.send(EXIT)
    assert pipes.end() == (0, "")


@pytest.mark.parametrize("size", ["99999999999999999999", "999999999999", "9" * 30_000])
def test_a_message_that_is_too_long_is_skipped(size: str) -> None:
    pipes = Pipes()
    pipes.send(HELLO)
    pipes.answer(1)
    assert pipes.server.stdin
    pipes.server.stdin.write(b"Content-Length: %s\r\n\r\n{}" % size.encode())
    pipes.send(SHUTDOWN)
    assert pipes.answer(2)["result"] is None
    pipes.send(EXIT)
    assert pipes.end() == (0, "fullgraph: a message of more than 256 MiB was skipped\n")


def test_what_is_nested_without_end_does_not_end_it() -> None:
    pipes = Pipes()
    pipes.send(HELLO)
    pipes.answer(1)
    pipes.send_raw(b'{"jsonrpc": "2.0", "id": 9, "method": "x", "params": ' + b"[" * 100_000 + b"]" * 100_000 + b"}")
    pipes.send(SHUTDOWN)
    assert pipes.answer(2)["result"] is None
    pipes.send(EXIT)
    assert pipes.end() == (0, "")


async def test_a_request_can_be_cancelled_and_others_are_served(start: Start, project: Path) -> None:
    for number in range(400):
        (project / "pkg" / f"long_{number}.py").write_text("long_wait = 1\n")
    async with start(project, encodings=["utf-16"]) as used:
        uri = used.open(project / "pkg" / "a.py")
        [offered, _] = await used.actions(uri, only=FIX_PROJECT)
        waiting = used.client.protocol.send_request(types.CODE_ACTION_RESOLVE, offered, msg_id="to-be-cancelled")
        used.type(uri, "return 1", "return 2")
        assert len(await used.diagnostics(uri)) == 4
        used.client.protocol.notify(types.CANCEL_REQUEST, types.CancelParams("to-be-cancelled"))
        with pytest.raises(JsonRpcException, match=r"(?i)cancel"):
            await asyncio.wait_for(asyncio.wrap_future(waiting), PATIENCE)


@pytest.mark.parametrize(
    ("command", "given"),
    [
        ("prove", []),
        ("prove", ["x"]),
        ("prove", [{"uri": 1, "symbol": "f", "scenario": "s.py"}]),
        ("undo", [{"uri": 5}]),
    ],
)
async def test_what_a_client_gives_wrongly_is_told_in_a_sentence(start: Start, command: str, given: list[Any]) -> None:
    async with start() as used:
        with pytest.raises(JsonRpcInvalidParams, match="must be a string") as caught:
            await used.command(f"fullgraph.{command}", *given)
        assert not caught.value.data


@pytest.mark.parametrize("data", [None, {}, [1], {"scope": "file", "uri": 5, "key": ""}])
async def test_an_action_that_is_not_ours_is_refused_in_a_sentence(start: Start, data: Any) -> None:
    async with start() as used:
        with pytest.raises(JsonRpcInvalidParams, match="must be a string"):
            await used.resolve(types.CodeAction("odd", data=data))


async def test_it_serves_a_port_too(project: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = subprocess.Popen([*COMMAND, "--tcp", str(port)], stderr=subprocess.PIPE)
    client = LanguageClient("port", "1")
    for _ in range(PATIENCE * 10):
        try:
            await client.start_tcp("127.0.0.1", port)
            break
        except OSError:
            await asyncio.sleep(0.1)
    told = await client.initialize_async(types.InitializeParams(types.ClientCapabilities()))
    assert told.server_info
    assert told.server_info.name == "fullgraph"
    await client.shutdown_async(None)
    client.exit(None)
    assert await asyncio.to_thread(server.wait, PATIENCE) == 0
    await client.stop()  # type: ignore[no-untyped-call]


def test_torch_is_never_imported() -> None:
    code = "import sys; from fullgraph.codemods.lsp import server; server.make_server(); print('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "False\n"
