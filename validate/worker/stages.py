"""The stages of one side: each builds its subject anew, runs all cases in order on it, and answers with JSON."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from . import compiling, timing
from .devices import device, syncs
from .errors import UserError
from .graphs import counting
from .process.ran import Watch
from .recording import record, results
from .subject import Case, Source, Subject, read_source


class Stages:
    """A scenario on one device, in one process."""

    def __init__(
        self, scenario: dict[str, Any], settings: dict[str, Any], scratch: str, watch: Watch, shared_cache: str
    ) -> None:
        self.scenario = scenario
        self.settings = settings
        self.scratch = scratch
        self.watch = watch
        self.shared_cache = shared_cache
        self.source: Source
        self.imported: dict[str, Any] = {}
        self.built: dict[str, Any] = {}
        self.bench: dict[str, timing.Bench] = {}
        self.compiles_itself = False
        try:
            self.device = device.choose(settings["device"])
        except device.NoDevice as error:
            raise UserError(str(error), "device") from error

    def open(self) -> dict[str, Any]:
        """Read the scenario and build a subject once, so that what is wrong with it is told now."""
        with self.watch.on(), self.device.active():
            where = (self.scenario[name] for name in ("kind", "target", "capture"))
            self.source, self.imported = record.record_making(lambda: read_source(*where), record.IMPORT)
            subject, built = record.record_making(self.build, record.BUILD)
            self.built = {**built, "rng": subject.left}
        options, notices = compiling.choose_options(self.settings, self.source.options)
        self.options = options
        return {
            "cases": [case.name for case in subject.cases],
            "environment": self.device.describe(),
            "options": {key: value for key, value in options.items() if value is not None},
            "exact": self.source.exact,
            "compiled": self.source.compiled,
            "rtol": self.source.rtol,
            "atol": self.source.atol,
            "notices": [*notices, *self.source.notices(self.device.torch_device)],
        }

    def warm_up(self) -> dict[str, Any]:
        """Compile something small: pays what torch pays once per process, and finds out whether the backend works."""
        fallback = compiling.warm_up(self.options, self.device, self.shared_cache)
        return {"backend": self.options.get("backend", ""), "fallback": fallback}

    def build(self) -> Subject:
        return replace(self.source.build(self.device.torch_device), roots=tuple(self.settings.get("roots", ())))

    # Stages

    def eager(self, name: str = "eager") -> dict[str, Any]:
        """Run every case and record all there is to see of it."""
        subject = self.build()
        start = record.describe_surroundings(subject.roots)
        self.device.reset_peak()
        with compiling.eagerly():
            records = [{**self.record(subject, subject.call, case), "start": start} for case in subject.cases]
            peak = self.device.peak_bytes()
            slopes = self.probe_gradients()
        records = [{**kept, "slopes": slope} for kept, slope in zip(records, slopes)]
        told = results.describe_results(records, lambda: (self.build(), subject))
        return {**self.keep(name, records), **told, "peak_bytes": peak}

    def probe_gradients(self) -> list[Any]:
        """By case, how the output would change with the arguments; None where that is not asked."""
        subject, seed = self.build(), self.source.seed
        if not self.source.backward or subject.replaces_output:
            return [None] * len(subject.cases)
        with record.silenced():
            return [self.probe(subject, case, seed) for case in subject.cases]

    def probe(self, subject: Subject, case: Case, seed: int) -> Any:
        with case.settings():
            return record.probe_gradients(subject, case, self.device, seed)

    def syncs(self) -> dict[str, Any]:
        """Run every case again, and count host reads and moves by line; notes which changed lines ran."""
        with self.device.active():
            subject = self.build()

            def run() -> None:
                for case in subject.cases:
                    self.run_case(subject.call, case)

            with compiling.eagerly(), record.silenced():
                with self.watch.on():
                    for case in subject.cases:
                        self.run_case(self.with_backward(subject, case), case)
                subject = self.build()
                counted = syncs.count_syncs(run, self.device, self.settings["roots"])
        return {**counted, **self.watch.as_json()}

    def graphs(self) -> dict[str, Any]:
        """Compile without a backend, and count graphs, breaks, recompiles and guards."""
        with self.device.active(), record.silenced():
            dynamic = self.options.get("dynamic")
            counted = counting.count_graphs(self.build(), self.run_case, dynamic=dynamic, rebuild=self.build)
        self.compiles_itself = bool(counted["compiles_itself"])
        return counted

    def compiled(self, random_as_in_eager: bool, compiles_itself: bool | None = None) -> dict[str, Any]:
        """Run every case compiled with the real backend and record it."""
        if compiles_itself is not None:
            self.compiles_itself = compiles_itself
        compiling.reset()
        subject = self.build()
        call = compiling.compiled_form(subject, self.options, self.compiles_itself)
        start = record.describe_surroundings(subject.roots)
        with compiling.random_as_in_eager(random_as_in_eager):
            records = [self.record(subject, call, case) for case in subject.cases]
        end = record.describe_surroundings(subject.roots)
        touched = [path for path in start if path in end and end[path] != start[path]]
        return self.keep("compiled", [{**kept, "start": start, "touched": touched} for kept in records])

    def cold(self, random_as_in_eager: bool) -> float:
        """Seconds of a first compiled pass over all cases, with empty caches."""
        compiling.forget_everything(os.path.join(self.scratch, "inductor"))
        subject = self.build()
        call = compiling.compiled_form(subject, self.options, self.compiles_itself)
        with compiling.random_as_in_eager(random_as_in_eager), record.silenced():
            return timing.time_once(self.device, lambda: [self.run_case(call, case) for case in subject.cases])

    def prepare(
        self, kind: str, leave_out: list[str], fresh_arguments: bool, compiles_itself: bool
    ) -> dict[str, float]:
        """Build what the blocks of one kind time, and warm it up. Answers with what one pass takes."""
        if kind == "compiled":
            compiling.reset()
        subject = self.build()
        call = subject.call if kind == "eager" else compiling.compiled_form(subject, self.options, compiles_itself)
        self.bench[kind] = timing.Bench(
            kind, subject, call, self.device, leave_out, self.build if fresh_arguments else None, self.source.backward
        )
        return self.bench[kind].warm_up()

    def block(self, kind: str, passes: int) -> float:
        """Seconds of one pass, as the mean of so many."""
        return self.bench[kind].block(passes)

    # What they share

    def record(self, subject: Subject, call: Callable[..., Any], case: Case) -> dict[str, Any]:
        with case.settings():
            return record.record_case(
                subject,
                call,
                case,
                self.device,
                seed=self.source.seed,
                backward=self.source.backward,
                second=self.source.second_derivatives and call is subject.call and not self.compiles_itself,
            )

    def with_backward(self, subject: Subject, case: Case) -> Callable[..., Any]:
        """The call, and then backward through what it gives: hooks and gradients of one's own are code too."""

        def call(*args: Any, **kwargs: Any) -> None:
            output = subject.call(*args, **kwargs)
            if self.source.backward:
                record.differentiate(output, case, self.source.seed)

        return call

    def run_case(self, call: Callable[..., Any], case: Case) -> BaseException | None:
        """Call it; what the case raises is its result."""
        record.seed_all(self.source.seed, self.device)
        try:
            with case.settings():
                call(*case.args, **case.kwargs)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            return error
        finally:
            record.end_copy()
        return None

    def keep(self, name: str, records: list[dict[str, Any]]) -> dict[str, Any]:
        return record.store([self.imported, self.built, *records], os.path.join(self.scratch, f"{name}.pt"))
