"""How long an editor waits: from a key to the diagnostics of that version, measured by a client over pipes.

Files of about 2,000 lines of the installed torch that the codemods have something to look at in, each in a project
of its own, and one that is put together from the demo, with findings all over it. The machine may be noisy: beside
the time on the clock stands the server's own processor time for one key.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import sys
import sysconfig
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from lsprotocol import types
from pygls.lsp.client import LanguageClient
from pygls.uris import from_fs_path

FULLGRAPH = Path(sys.executable).with_name("fullgraph")
DEMO = Path(__file__).parent.parent / "fixtures" / "demo" / "src" / "seedling"
TORCH = Path(sysconfig.get_path("purelib")) / "torch"
NAMES = (
    "distributed/fsdp/_optim_utils.py",
    "distributed/tensor/_redistribute.py",
    "ao/quantization/observer.py",
    "library.py",
    "nn/modules/activation.py",
)
LINES = 2_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--keys", type=int, default=30, help="how many keys are typed into each file")
    arguments = parser.parse_args()
    print(f"{'file':<40} {'lines':>6} {'findings':>8} {'median ms':>10} {'worst ms':>9} {'server CPU ms':>14}")
    with tempfile.TemporaryDirectory(prefix="fullgraph-bench-") as folder:
        for name, text in texts():
            asyncio.run(measure(Path(folder).resolve() / name.replace("/", "-"), name, text, arguments.keys))


def texts() -> Iterator[tuple[str, str]]:
    yield "the demo, again and again", big_demo()
    import torch  # only to find it

    for name in NAMES:
        if (file := Path(torch.__file__).parent / name).is_file():
            yield f"torch/{name}", file.read_text()


def big_demo() -> str:
    """The demo's modules as one, until there are so many lines; classes and functions get a name of their own."""
    modules = [
        file.read_text().replace("from __future__ import annotations\n", "") for file in sorted(DEMO.glob("*.py"))
    ]
    text, turn = "from __future__ import annotations\n", 0
    while text.count("\n") < LINES:
        text += modules[turn % len(modules)].replace("def ", f"def t{turn}_").replace("class ", f"class T{turn}")
        turn += 1
    return text


async def measure(root: Path, name: str, text: str, keys: int) -> None:
    root.mkdir()
    (root / "pyproject.toml").write_text("[project]\nname = 'bench'\n")
    file = root / "module.py"
    file.write_text(text)
    uri = from_fs_path(str(file)) or ""
    client = LanguageClient("bench", "1")
    arrived: asyncio.Queue[tuple[int | None, int]] = asyncio.Queue()

    @client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)  # type: ignore[untyped-decorator]
    def published(params: types.PublishDiagnosticsParams) -> None:
        arrived.put_nowait((params.version, len(params.diagnostics)))

    await client.start_io(str(FULLGRAPH), "lsp")
    folders = [types.WorkspaceFolder(from_fs_path(str(root)) or "", "bench")]
    await client.initialize_async(types.InitializeParams(types.ClientCapabilities(), workspace_folders=folders))
    client.initialized(types.InitializedParams())
    item = types.TextDocumentItem(uri, "python", 0, text)
    client.text_document_did_open(types.DidOpenTextDocumentParams(item))
    findings = await until(arrived, 0)
    middle = types.Position(text.count("\n") // 2, 0)
    times, used = [], cpu(client)
    for version in range(1, keys + 1):
        began = time.perf_counter()
        change = types.TextDocumentContentChangePartial(types.Range(middle, middle), "# x\n")
        document = types.VersionedTextDocumentIdentifier(version, uri)
        client.text_document_did_change(types.DidChangeTextDocumentParams(document, [change]))
        await until(arrived, version)
        times.append((time.perf_counter() - began) * 1000)
    spent = (cpu(client) - used) / keys * 1000
    await client.shutdown_async(None)
    client.exit(None)
    await client.stop()  # type: ignore[no-untyped-call]
    lines, median = text.count("\n"), statistics.median(times)
    print(f"{name:<40} {lines:>6} {findings:>8} {median:>10.0f} {max(times):>9.0f} {spent:>14.0f}", flush=True)


async def until(arrived: asyncio.Queue[tuple[int | None, int]], version: int) -> int:
    while True:
        came, findings = await arrived.get()
        if came == version:
            return findings


def cpu(client: LanguageClient) -> float:
    """Seconds that the server has computed, where the system tells."""
    server = client._server
    stat = Path(f"/proc/{server.pid}/stat") if server else Path()
    if not stat.is_file():
        return float("nan")
    fields = stat.read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    main()
