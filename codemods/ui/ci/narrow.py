"""Between finding and judging: what is known, or stands on lines that have not changed, is passed over."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from fullgraph.codemods.model import Finding, SourceError
from fullgraph.codemods.rewrite.find import FileResult
from fullgraph.codemods.rewrite.walk import Tree
from fullgraph.codemods.ui.ci.baseline import Baseline, Entry, read_baseline, write_baseline
from fullgraph.codemods.ui.ci.model import CiReport, CiRequest
from fullgraph.codemods.ui.ci.since import Changed, changed_since
from fullgraph.codemods.ui.commands import Job
from fullgraph.codemods.ui.report.as_text import count
from fullgraph.codemods.ui.report.spot import NOWHERE, Spot, file_text


@dataclass
class Narrowing:
    """Leaves what counts of what was found."""

    request: CiRequest
    report: CiReport
    baseline: Baseline | None = None
    changed: Changed | None = None
    clean: set[Path] = field(default_factory=set)
    """The files that could be looked at."""

    @classmethod
    def for_request(cls, request: CiRequest, report: CiReport) -> Narrowing:
        """A baseline that cannot be read is said before anything is done."""
        if not request.baseline:
            return cls(request, report)
        is_first = request.update_baseline and not os.path.lexists(request.baseline)
        return cls(request, report, Baseline(request.baseline) if is_first else read_baseline(request.baseline))

    def open(self, tree: Tree) -> None:
        """Files that have not changed are not looked at; what git cannot tell is said first."""
        if self.request.since:
            self.changed = changed_since(tree, self.request.since, self.report.add_notice)
            tree.targets &= {path for path in tree.targets if self.changed.touches(tree.root / path)}

    def narrow(self, tree: Tree, results: Sequence[FileResult]) -> list[FileResult]:
        self.clean |= {tree.root / result.path for result in results if not result.error}
        for result in results:
            self.report.spots |= {(tree.root, key): spot for key, spot in spots_of(tree.root, result).items()}
        if self.baseline:
            results = self.without_known(tree, results, self.baseline)
        if self.changed:
            results = self.without_unchanged(tree, results, self.changed)
        return list(results)

    def spot(self, tree: Tree, finding: Finding) -> Spot:
        return self.report.spots.get((tree.root, finding.key), NOWHERE)

    def without_known(self, tree: Tree, results: Sequence[FileResult], baseline: Baseline) -> list[FileResult]:
        """Of equal findings those on lines that have not changed are the known ones."""
        findings = [finding for result in results for finding in result.findings]
        if changed := self.changed:
            findings.sort(key=lambda finding: self.is_changed(tree, finding, changed))
        known = baseline.meet([self.entry(tree, finding, baseline) for finding in findings])
        if self.request.update_baseline:
            known = [True] * len(findings)
        self.report.known += sum(known)
        kept = {finding.key for finding, is_known in zip(findings, known, strict=True) if not is_known}
        return [keep(result, kept) for result in results]

    def entry(self, tree: Tree, finding: Finding, baseline: Baseline) -> Entry:
        return baseline.entry(tree.root / finding.path, finding, self.spot(tree, finding).content)

    def without_unchanged(self, tree: Tree, results: Sequence[FileResult], changed: Changed) -> list[FileResult]:
        findings = [finding for result in results for finding in result.findings]
        kept = {finding.key for finding in findings if self.is_changed(tree, finding, changed)}
        self.report.unchanged += len(findings) - len(kept)
        return [keep(result, kept) for result in results]

    def is_changed(self, tree: Tree, finding: Finding, changed: Changed) -> bool:
        region = self.spot(tree, finding).region
        last = region.last_line - (region.last_column == 1 and region.last_line > region.first_line)
        return changed.holds(tree.root / finding.path, region.first_line, last)

    def close(self, jobs: Sequence[Job]) -> None:
        """Write the baseline anew, or say how much of it is over."""
        if not self.baseline:
            return
        ran = {codemod.name for job in jobs for codemod in job.codemods}

        def is_settled(entry: Entry) -> bool:
            file = Path(os.path.normpath(self.baseline.folder / entry.path)) if self.baseline else Path()
            return entry.codemod in ran and (file in self.clean or not file.exists())

        if self.request.update_baseline:
            entries = self.baseline.updated(is_settled)
            write_baseline(self.baseline.file, entries)
            self.report.notices.append(f"{self.baseline.file} holds {count(entries.total(), 'finding')} now")
        elif self.is_whole and (over := self.baseline.over(is_settled)):
            said = f"{count(over, 'finding')} of {self.baseline.file} {'is' if over == 1 else 'are'} no longer there"
            self.report.notices.append(f"{said}; --update-baseline takes {'it' if over == 1 else 'them'} out")

    @property
    def is_whole(self) -> bool:
        """Whether all findings of the files were wanted."""
        looking = self.request.looking
        return not (looking.symbols or looking.lines)


def spots_of(root: Path, result: FileResult) -> dict[str, Spot]:
    """Where the findings of one file stand; nowhere if it cannot be read any more."""
    if not result.findings:
        return {}
    try:
        text = file_text(result.path, (root / result.path).read_bytes())
        return {finding.key: text.spot(finding) for finding in result.findings}
    except (OSError, SourceError):
        return {}


def keep(result: FileResult, keys: set[str]) -> FileResult:
    return replace(result, findings=tuple(finding for finding in result.findings if finding.key in keys))
