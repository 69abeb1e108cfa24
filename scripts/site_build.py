"""Build the site of docs/ with Zensical: `python scripts/site_build.py` writes build/site/.

The pages are the Markdown files of the repository. Only their links are changed: to pages of the site, or to none.
They open as files; only the search asks for a server.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
FOLDER = ROOT / "build"
BESIDE = ("CHANGELOG.md", "CONTRIBUTING.md")
"""Pages of the site that stand at the top of the repository."""

LINK = re.compile(r"(?<!!)\[([^\[\]]*)\]\(([^()\s:#]+)(#[^()\s]*)?\)")
CODE = re.compile(r"^(`{3,})[^\n]*\n.*?^\1$|`[^`\n]*`", re.DOTALL | re.MULTILINE)
"""Blocks, and code within a line."""


def main() -> int:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    shutil.rmtree(folder / "docs", ignore_errors=True)
    for page in pages():
        write_page(page, folder / "docs" / place_of(page))
    (folder / "mkdocs.yml").write_text(json.dumps(settings(), indent=1), encoding="utf-8")
    command = [sys.executable, "-m", "zensical", "build", "--strict", "--clean"]
    return subprocess.run(command, cwd=folder, check=False).returncode


@cache
def pages() -> list[Path]:
    return sorted([*DOCS.rglob("*.md"), *(ROOT / name for name in BESIDE)])


def place_of(page: Path) -> str:
    """Where a page stands in the site."""
    return page.relative_to(DOCS if page.is_relative_to(DOCS) else ROOT).as_posix()


def settings() -> dict[str, object]:
    """JSON is YAML. A link that leads nowhere stops the build; nothing is loaded from elsewhere."""
    return {
        "site_name": "fullgraph",
        "site_dir": "site",
        "use_directory_urls": False,
        "nav": navigation(),
        "theme": {
            "name": "material",
            "font": False,
            "features": ["navigation.indexes", "navigation.top", "content.code.copy"],
            "palette": [palette("light", "default", "moon"), palette("dark", "slate", "sun")],
        },
        "markdown_extensions": ["tables", "toc", "pymdownx.superfences", "pymdownx.highlight"],
    }


def palette(light: str, scheme: str, icon: str) -> dict[str, object]:
    """As the system has it, until the reader presses the button."""
    toggle = {"icon": f"lucide/{icon}", "name": "Light or dark"}
    return {"media": f"(prefers-color-scheme: {light})", "scheme": scheme, "toggle": toggle}


def navigation() -> list[dict[str, object]]:
    return [
        {"Start": "README.md"},
        {"Tutorials": ["tutorial-training.md", "tutorial.md", "own-codemod.md"]},
        {"Commands": pages_of("commands")},
        {"Codemods": pages_of("codemods")},
        {"Proving": ["proving.md", "validator.md", "stable-compile.md"]},
        {"Where you work": ["review.md", "ci.md", "editors.md", "agents.md", "tickets.md", "configuration.md"]},
        {"What to know": ["safety.md", "limits.md"]},
        {"Inside": ["architecture.md", *BESIDE]},
    ]


def pages_of(folder: str) -> list[str]:
    """The index first."""
    names = [file.name for file in (DOCS / folder).glob("*.md")]
    return [f"{folder}/{name}" for name in sorted(names, key=lambda name: (name != "README.md", name))]


def write_page(page: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(site_text(page.read_text(encoding="utf-8"), page), encoding="utf-8")


def site_text(text: str, page: Path) -> str:
    """Links outside of code lead to pages of the site. A block that names its file has that name above it.

    In a table, code needs no backslash before a `|`, and would show it.
    """
    kept: list[str] = []

    def keep(found: re.Match[str]) -> str:
        kept.append(name_file(found[0]) if found[1] else found[0].replace(r"\|", "|"))
        return f"\0{len(kept) - 1}\0"

    prose = LINK.sub(lambda found: site_link(found, page), CODE.sub(keep, text))
    return re.sub("\0(\\d+)\0", lambda found: kept[int(found[1])], prose)


def name_file(block: str) -> str:
    head, _, rest = block.partition("\n")
    marks, _, file = head.partition(" ")
    return f"`{file.removesuffix(' -1')}`\n\n{marks}\n{rest}" if file else block


def site_link(found: re.Match[str], page: Path) -> str:
    """A file that is no page of the site is named, and not linked."""
    text, path, anchor = found.groups(default="")
    target = (page.parent / path).resolve()
    target = target / "README.md" if target.is_dir() else target
    if target not in pages():
        return text
    place = os.path.relpath(place_of(target), os.path.dirname(place_of(page)) or ".").replace(os.sep, "/")
    return f"[{text}]({place}{anchor})"


if __name__ == "__main__":
    sys.exit(main())
