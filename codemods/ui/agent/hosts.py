"""Where the hosts of coding agents look for skills and for servers, below a project's folder."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

SKILL = "fullgraph/SKILL.md"
SERVER = {"command": "fullgraph", "args": ["mcp"]}


@dataclass(frozen=True)
class Host:
    """`config` is the file that lists servers, and `table` the key that they are under; empty if it has none."""

    name: str
    skills: str
    config: str = ""
    table: str = "mcpServers"
    typed: bool = False
    """Whether an entry says that the server speaks on standard input and output."""

    @property
    def folders(self) -> tuple[str, ...]:
        """A project that has one of these is used with this host."""
        named = (self.skills, self.config)
        return tuple(path.partition("/")[0] for path in named if "/" in path and not path.startswith(".github"))

    @property
    def skill(self) -> str:
        return f"{self.skills}/{SKILL}"

    @property
    def entry(self) -> dict[str, object]:
        return {"type": "stdio", **SERVER} if self.typed else dict(SERVER)


ANY = Host("any", ".agents/skills")
HOSTS = {
    host.name: host
    for host in (
        Host("claude", ".claude/skills", ".mcp.json"),
        Host("codex", ".agents/skills", ".codex/config.toml", "mcp_servers"),
        Host("cursor", ".cursor/skills", ".cursor/mcp.json"),
        Host("copilot", ".github/skills", ".vscode/mcp.json", "servers", typed=True),
        Host("gemini", ".gemini/skills", ".gemini/settings.json"),
        ANY,
    )
}


def hosts_of(root: Path) -> list[Host]:
    """The hosts whose folders a project has, or where any host may look."""
    found = [host for host in HOSTS.values() if any((root / folder).is_dir() for folder in host.folders)]
    return [host for host in found if host is not ANY] or [ANY]


def skill_text() -> str:
    """The skill, in the installed package or beside it in a checkout."""
    package = Path(__file__).resolve().parent.parent.parent
    inside = package / "skills" / SKILL
    return (inside if inside.is_file() else package.parent / "skills" / SKILL).read_text(encoding="utf-8")
