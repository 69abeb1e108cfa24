"""Prove the codemods' fixtures, examine the patterns, ask torch, and store what came of it.

A row whose key has not changed is kept: it was made from the same bytes. `--all` makes every row again.
"""

from __future__ import annotations

import json
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import fullgraph.validate.launch  # noqa: E402
from fullgraph.codemods.registry import bundled  # noqa: E402
from fullgraph.codemods.ui.measured import ROW, codemod_of, prove_question, proven_cases, question_of, row_of  # noqa: E402
from tests import torch_facts  # noqa: E402
from tests.validate.proofs import CACHE  # noqa: E402
from tests.zygote import TORCH  # noqa: E402


def main() -> int:
    fullgraph.validate.launch.start = TORCH.start
    is_asked = "--all" in sys.argv
    for case in (case for name in bundled() for case in proven_cases(name)):
        measure(case, is_asked=is_asked)
    for name in torch_facts.MODULES:
        if is_asked or torch_facts.read(name).get("key") != torch_facts.key(name):
            torch_facts.store(name)
            print(f"torch: {name}", flush=True)
    TORCH.end()
    examine_patterns(is_asked=is_asked)
    return 0


def measure(case: Path, *, is_asked: bool) -> None:
    file = case / ROW
    question = question_of(case, codemod_of(case), sys.executable)
    key = question.key(version("torch"))
    if not is_asked and file.exists() and json.loads(file.read_text()).get("key") == key:
        return
    row = row_of(prove_question(question, CACHE)) | {"key": key}
    file.write_text(json.dumps(row, indent=2) + "\n")
    print(f"{case.parent.name}/{case.name}: {row['ruling']}: {'; '.join(row['numbers'].values())}", flush=True)


def examine_patterns(*, is_asked: bool) -> None:
    from tests.breaks.known import exam_of, known, store
    from tests.breaks.test_patterns import ALL, SAMPLE

    rows: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        for exam in (exam_of(pattern, backend) for pattern, backend in [*((one, "eager") for one in ALL), *SAMPLE]):
            rows[exam.name] = known().get(exam.name, {})
            if is_asked or rows[exam.name].get("key") != exam.key:
                rows[exam.name] = {"key": exam.key, **exam.run(Path(folder)).as_json()}
                print(f"{exam.name}: {rows[exam.name]['end']}", flush=True)
    store(rows)


if __name__ == "__main__":
    sys.exit(main())
