"""What one run of the retrieval bench leaves for later: the outcome of every query.

Format owned: a JSON object, `camillo: bench retrieval`, `format: 1`, the run's settings, and two
lists of outcomes, `camillo_outcomes` and `baseline_outcomes`. Files of a newer format are refused.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from camillo.bench.evaluation import Outcome
from camillo.errors import InvalidValue, SourceUnreadable

__all__ = ["Run", "read_run", "write_file", "write_run"]

_KIND = "bench retrieval"
_FORMAT = 1


@dataclass(slots=True)
class Run:
    """One run. `settings` say how it was made: corpus, level, protocol, preset, embedder."""

    settings: dict[str, str]
    outcomes: list[Outcome] = field(default_factory=list)
    baseline: list[Outcome] = field(default_factory=list)

    @property
    def name(self) -> str:
        """What tells it from another run, for people."""
        told = (self.settings.get(key, "") for key in ("preset", "embedder"))
        return " ".join(filter(None, told)) or "camillo"


def write_run(run: Run, path: str) -> None:
    """Whole or not at all. Raises InvalidValue when the file cannot be written."""
    record = {
        "camillo": _KIND,
        "format": _FORMAT,
        "settings": run.settings,
        "camillo_outcomes": [_plain(outcome) for outcome in run.outcomes],
        "baseline_outcomes": [_plain(outcome) for outcome in run.baseline],
    }
    write_file(path, (json.dumps(record, ensure_ascii=False) + "\n").encode())


def read_run(path: str) -> Run:
    """Raises SourceUnreadable, and InvalidValue when it is no such file."""
    try:
        with open(path, "rb") as file:
            record = json.loads(file.read())
    except OSError as error:
        raise SourceUnreadable(f"{path} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise InvalidValue(f"{path} is not JSON: {error}") from error
    if not isinstance(record, dict) or record.get("camillo") != _KIND:
        raise InvalidValue(f"{path} is no saved run: make one with `bench retrieval --out FILE`")
    if record.get("format") != _FORMAT:
        raise InvalidValue(f"{path} has format {record.get('format')!r}; known: {_FORMAT}")
    try:
        return Run(
            settings=dict(record["settings"]),
            outcomes=_outcomes(record["camillo_outcomes"]),
            baseline=_outcomes(record["baseline_outcomes"]),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise InvalidValue(f"{path} is a damaged run: {error}; make it anew") from error


def write_file(path: str, content: bytes) -> None:
    """Whole or not at all. Raises InvalidValue when it cannot be written."""
    part = f"{path}.part"
    try:
        with open(part, "wb") as file:
            file.write(content)
        os.replace(part, path)
    except OSError as error:
        raise InvalidValue(f"{path} cannot be written: {error.strerror}") from error


def _plain(outcome: Outcome) -> dict[str, Any]:
    scores = {name: round(value, 6) for name, value in outcome.scores.items()}
    return {**outcome._asdict(), "scores": scores, "ms": round(outcome.ms, 3)}


def _outcomes(records: Sequence[dict[str, Any]]) -> list[Outcome]:
    return [
        Outcome(
            key=str(record["key"]),
            conv=str(record["conv"]),
            category=str(record["category"]),
            labelled=bool(record["labelled"]),
            scores={str(name): float(value) for name, value in record["scores"].items()},
            found=tuple(map(str, record["found"])),
            ms=float(record["ms"]),
        )
        for record in records
    ]
