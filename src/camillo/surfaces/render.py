"""A report as text: for people, as Markdown, as JSON, as ids.

Works on `Report.as_dict()`, whether it was made here or came over a wire. An operation that wants
another look for people has a function in `RENDERERS`, or other words in `WORDINGS`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping

from camillo.surfaces.blocks import (
    blocks,
    fenced,
    is_text,
    location,
    markdown_blocks,
    room_of,
    standing,
    text_of,
    told_apart,
)
from camillo.surfaces.tables import markdown_table, sections, table
from camillo.surfaces.terminal import clean_line, cut, json_safe
from camillo.surfaces.view import View

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Plain = Mapping[str, Any]
    Renderer = Callable[[Plain, View], Iterable[str]]

__all__ = ["RENDERERS", "WORDINGS", "ids", "json_text", "markdown", "text"]

_FIRST_WORDS, _FIRST_COLUMNS = 20, 80  # of a memory in a list
_COMMON = frozenset({"schema", "results", "degraded"})
_WOULD = {  # what a dry run says of statuses and counts
    "stored": "would import",
    "imported": "would import",
    "updated": "would update",
    "changed": "would update",
    "written": "would write",
    "removed": "would remove",
}


def text(name: str, report: Plain, view: View) -> str:
    """What people read."""
    return _joined(RENDERERS.get(name, _anything)(_worded(name, report), view))


def markdown(name: str, report: Plain, view: View) -> str:
    """What is pasted into a document or a prompt."""
    return _joined(_MARKDOWN.get(name, _markdown)(_worded(name, report), view))


def json_text(report: Plain, *, indent: bool = False) -> str:
    """One JSON object. Reads back as the same values, and is harmless on a terminal."""
    import json

    shown = json.dumps(report, ensure_ascii=False, indent=2 if indent else None)
    return json_safe(shown) + "\n"


def ids(report: Plain) -> str:
    """Full ids, one a line."""
    records = (each for each in report["results"] if isinstance(each, Mapping))
    return _joined(clean_line(str(each["id"])) for each in records if "id" in each)


def _anything(report: Plain, view: View) -> Iterator[str]:
    results = report["results"]
    own = _own(report)
    if results:
        yield from _results(results, view)
        if any(value not in (None, "", False, [], {}) for value in own.values()):
            yield ""
    yield from sections(own, view)


def _search(report: Plain, view: View) -> Iterator[str]:
    """The hits; how they came about only when it was asked for."""
    yield from _results(report["results"], view)
    if view.arguments.get("explain"):
        yield ""
        yield from sections(_own(report), view)


def _list(report: Plain, view: View) -> Iterator[str]:
    """A line for each memory, with its first words."""
    if not report["results"]:
        return
    yield from table([_listed(each, view) for each in told_apart(report["results"])], view)
    yield from ["", _counted(report, view)]


def _counted(report: Plain, view: View) -> str:
    """How many there are, and which of them are shown where that is not all."""
    total, count = report["total"], len(report["results"])
    if count >= total:
        return f"total  {total:,}"
    first = view.arguments.get("offset") or 0
    last = first + count
    shown = f"{first + 1:,} to {last:,}" if first else f"{count:,}"
    return f"showing {shown} of {total:,}" + (f"; --offset {last} goes on" if last < total else "")


def _listed(result: Plain, view: View) -> dict[str, str]:
    words = str(text_of(result)).split(maxsplit=_FIRST_WORDS)[:_FIRST_WORDS]
    return {
        "id": str(result.get("id", "")),
        "kind": str(result.get("kind", "")),
        "root": str(result.get("root") or ""),
        "room": room_of(result),
        "from": location(result, view),
        "standing": standing(result),
        "text": cut(clean_line(" ".join(words)), _FIRST_COLUMNS),
    }


def _whole(report: Plain, view: View) -> Iterator[str]:
    """Texts that were asked for by id are shown whole."""
    return _anything(report, view._replace(full=True))


def _bench(report: Plain, view: View) -> Iterator[str]:
    """The table holds all that `metrics` and `baseline` do."""
    said = {key: value for key, value in report.items() if key not in ("metrics", "baseline")}
    return _anything(said, view)


def _script(report: Plain, _: View) -> Iterator[str]:
    yield report["script"].rstrip("\n")


def _drawing(report: Plain, _: View) -> Iterator[str]:
    yield report["drawing"].rstrip("\n")


def _fenced_drawing(report: Plain, _: View) -> Iterator[str]:
    yield from fenced(report["drawing"].rstrip("\n"), report["form"])


def _results(results: list[Any], view: View) -> Iterator[str]:
    if all(map(is_text, results)):
        return blocks(results, view)
    if all(isinstance(each, Mapping) for each in results):
        flat = not any(isinstance(value, Mapping) for each in results for value in each.values())
        return table(results, view) if flat and len(results) > 1 else _records(results, view)
    return (view.value("", each) for each in results)


def _records(results: list[Plain], view: View) -> Iterator[str]:
    """One below the other, for the few that a table does not suit."""
    for number, each in enumerate(results):
        if number:
            yield ""
        yield from sections(each, view)


def _markdown(report: Plain, view: View) -> Iterator[str]:
    results, own = report["results"], _own(report)
    if results and all(map(is_text, results)):
        yield from markdown_blocks(results, view)
    elif results and all(isinstance(each, Mapping) for each in results):
        yield from markdown_table(results, view)
    else:
        yield from (f"- {view.value('', each)}" for each in results)
    for key, value in own.items():
        if isinstance(value, list) and value and all(isinstance(each, Mapping) for each in value):
            yield from ["", f"## {clean_line(key.replace('_', ' '))}", ""]
            yield from markdown_table(value, view)
        elif shown := view.value(key, value):
            yield f"- {clean_line(key.replace('_', ' '))}: {shown}"
    for note in report["degraded"]:
        yield f"\n> note: {clean_line(str(note))}"


def _worded(name: str, report: Plain) -> Plain:
    """The report in the words that people read."""
    return WORDINGS[name](report) if name in WORDINGS else report


def _written(report: Plain) -> Plain:
    """The file of a note as `show` names it."""
    return {**report, "results": list(map(_with_file, report["results"]))}


def _with_file(result: Plain) -> Plain:
    own = {key: value for key, value in result.items() if key != "folder"}
    if result.get("folder") and result.get("path"):
        own["path"] = os.path.join(str(result["folder"]), str(result["path"]))
    return own


def _archived(report: Plain) -> Plain:
    """One word for each says what was done."""
    said = [{"id": each["id"], "status": each["done"]} for each in report["results"]]
    return {**report, "results": said}


def _imported(report: Plain) -> Plain:
    """Nothing that a dry run says reads as if it had been done."""
    if not report["dry_run"]:
        return report
    results = [_would(each) for each in report["results"]]
    own = {_WOULD.get(key, key): value for key, value in report.items()}
    if isinstance(counts := report.get("counts"), Mapping):
        own["counts"] = {_WOULD.get(key, key): value for key, value in counts.items()}
    return {**own, "results": results}


def _failed(report: Plain) -> Plain:
    """Only cases that failed."""
    return {**report, "results": [each for each in report["results"] if not each["passed"]]}


def _compiled(report: Plain) -> Plain:
    """Only pages of which there is something to say."""
    said = [each for each in report["results"] if each["status"] != "unchanged"]
    return _imported({**report, "results": said})


def _trusting(report: Plain) -> Plain:
    """A no is worth saying here."""
    said = [{**each, "trusted": "yes" if each["trusted"] else "no"} for each in report["results"]]
    return {**report, "results": said}


def _would(result: Plain) -> Plain:
    status = result.get("status")
    return {**result, "status": _WOULD.get(status, status)} if status else result


def _own(report: Plain) -> dict[str, Any]:
    return {key: value for key, value in report.items() if key not in _COMMON}


def _joined(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


RENDERERS: dict[str, Renderer] = {
    "bench retrieval": _bench,
    "bench silence": _bench,
    "completion": _script,
    "graph": _drawing,
    "list": _list,
    "search": _search,
    "show": _whole,
}

_MARKDOWN: dict[str, Renderer] = {"graph": _fenced_drawing}

WORDINGS: dict[str, Callable[[Plain], Plain]] = {
    "archive": _archived,
    "bench precision": _failed,
    "compile": _compiled,
    "import": _imported,
    "link": _written,
    "migrate": _imported,
    "remember": _written,
    "revise": _written,
    "roots": _trusting,
    "supersede": _written,
    "trust": _trusting,
    "unlink": _written,
}
