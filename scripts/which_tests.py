"""Which tests a pipeline runs: `test`, or `test-all` where what is taken as known may have changed.

That is so if the validator, its tests, the executors, the pinned torch, the Python, or what is built for editors and
pipelines is another than in the last whole run, of which `tests/everything.json` tells. `make test-all` writes that
file when all of it has passed (`--passed`).
"""

from __future__ import annotations

import hashlib
import json
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from fullgraph.validate.key import fingerprint  # noqa: E402

BUILT = {"node_modules", "dist", "__pycache__"}
STAMP = ROOT / "tests" / "everything.json"


def main() -> int:
    if "--passed" in sys.argv:
        STAMP.write_text(json.dumps(contents(ROOT), indent=2) + "\n")
    else:
        print(chosen(ROOT, STAMP))
    return 0


def chosen(root: Path, stamp: Path) -> str:
    """The target of the Makefile."""
    passed = json.loads(stamp.read_text()) if stamp.exists() else {}
    return "test" if passed == contents(root) else "test-all"


def contents(root: Path) -> dict[str, str]:
    """What proofs and packages rest on."""
    extras = tomllib.loads((root / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    return {
        "validate": fingerprint(root / "validate"),
        "its tests": digest(root / "tests" / "validate"),
        "editors": digest(root / "editors"),
        "executors": digest(root / "codemods" / "executors"),
        "recipes": digest(root / "ci", root / "action.yml", root / ".pre-commit-hooks.yaml"),
        "torch": next(one for one in extras["dev"] if one.startswith("torch==")),
        "python": f"{sys.version_info[0]}.{sys.version_info[1]}",
    }


def digest(*places: Path) -> str:
    """Files, and those of folders, without what was built or installed there."""
    made = hashlib.sha256()
    for place in places:
        for file in sorted(file for file in (place, *place.rglob("*")) if file.is_file()):
            if not BUILT & set(file.parts):
                name = file.relative_to(place.parent).as_posix()
                made.update(f"{name}\0".encode() + hashlib.sha256(file.read_bytes()).digest())
    return made.hexdigest()


if __name__ == "__main__":
    sys.exit(main())
