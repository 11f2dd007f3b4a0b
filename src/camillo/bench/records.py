"""The records of a retrieval bench: a corpus of texts, and questions with what should be found.

Format owned: two files of JSON objects, one a line. A corpus line has `id`, `text` and, where
there are any, `conv` (the haystack it lies in), `session`, `speaker`, `time`, `image_caption`; a
query line has `id`, `text`, `conv`, `relevant_ids`, `answer`, `category`. Further keys are let be.
What was read and does not fit together is counted in words, never dropped in silence.
"""

from __future__ import annotations

import json
import re
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from camillo.errors import InvalidValue, SourceUnreadable
from camillo.text.dates import content_date

__all__ = ["Corpus", "Question", "Text", "happened_at", "read_corpus", "read_questions"]


class Text(NamedTuple):
    """One line of a corpus: a conversation message when it has a speaker, else a note."""

    id: str
    conv: str
    session: str
    speaker: str
    time: str
    text: str
    caption: str = ""

    @property
    def indexed(self) -> str:
        """What every ranker gets to see, and what is counted: `Speaker: text [photo: caption]`."""
        said = f"{self.speaker}: {self.text}" if self.speaker else self.text
        return f"{said} [photo: {self.caption}]" if self.caption else said


class Question(NamedTuple):
    """One query: what is asked of which haystack. `key` names it among all of its file."""

    key: str
    conv: str
    text: str
    relevant: frozenset[str]
    answers: tuple[str, ...] = ()
    category: str = ""


@dataclass(slots=True)
class Corpus:
    """A corpus file by haystack. Only the places of its lines are held, not their texts."""

    path: str
    places: dict[str, array[int]] = field(default_factory=dict)
    doubles: int = 0  # lines whose (conv, id) an earlier one has already; they are left out

    def haystack(self, conv: str) -> list[Text]:
        """The texts of one haystack, oldest first; none for a name that the file does not have."""
        if conv not in self.places:
            return []
        with open(self.path, "rb") as file:
            texts = [_line_at(file, place) for place in self.places[conv]]
        return [text for _, text in sorted(enumerate(texts), key=_age)]


def read_corpus(path: str) -> Corpus:
    """Raises SourceUnreadable, and InvalidValue naming the line."""
    corpus = Corpus(path)
    seen: set[tuple[str, str]] = set()
    for number, place, record in _objects(path):
        text = _text(record, f"{path}, line {number}")
        if (text.conv, text.id) in seen:
            corpus.doubles += 1
            continue
        seen.add((text.conv, text.id))
        corpus.places.setdefault(text.conv, array("q")).append(place)
    if not corpus.places:
        raise InvalidValue(f"{path} holds no text: expected one JSON object a line")
    return corpus


def read_questions(path: str, corpus: Corpus) -> list[Question]:
    """In the order of the file. One without `conv` asks the corpus's only haystack, if it has but
    one. Raises SourceUnreadable, and InvalidValue naming the line."""
    only = next(iter(corpus.places)) if len(corpus.places) == 1 else ""
    taken: dict[str, int] = {}
    questions = []
    for number, _, record in _objects(path):
        question = _question(record, f"{path}, line {number}", only)
        times = taken[question.key] = taken.get(question.key, 0) + 1
        questions.append(
            question if times == 1 else question._replace(key=f"{question.key}#{times}")
        )
    if not questions:
        raise InvalidValue(f"{path} holds no query: expected one JSON object a line")
    return questions


def happened_at(time: str) -> str:
    """ISO date, with the hour and minute where they are given; "" when `time` holds no date. A
    number alone is a serial number, even one of eight digits."""
    if not time or time.strip().isdecimal():
        return ""
    day, _ = content_date("", time)
    if not day:
        return ""
    clock = _CLOCK.search(time)
    if clock is None:
        return day
    hour, minute, half = int(clock[1]), int(clock[2]), (clock[3] or "").lower()
    if half:
        hour = hour % 12 + (12 if half == "p" else 0)
    return f"{day}T{hour:02}:{minute:02}" if hour < 24 and minute < 60 else day


_CLOCK = re.compile(r"(?<![\d.:/-])(\d{1,2}):(\d\d)(?!\d)(?:[:.\d]*\s*([ap])\.?m)?", re.IGNORECASE)


def _age(numbered: tuple[int, Text]) -> tuple[int, str, int]:
    """Dates and serial numbers order; texts without either stay where they stand, at the end."""
    place, text = numbered
    serial = text.time.strip()
    if serial.isdecimal():
        return (0, f"{int(serial):020}", place)
    date = happened_at(serial)
    return (0, date, place) if date else (1, "", place)


def _objects(path: str) -> Iterator[tuple[int, int, dict[str, Any]]]:
    """(line number, where the line starts, the object) of each line that is not blank."""
    try:
        with open(path, "rb") as file:
            place = 0
            for number, line in enumerate(file, 1):
                if line.strip():
                    yield number, place, _object(line, f"{path}, line {number}")
                place += len(line)
    except OSError as error:
        raise SourceUnreadable(f"{path} cannot be read: {error.strerror}") from error


def _object(line: bytes, where: str) -> dict[str, Any]:
    try:
        record = json.loads(line.decode("utf-8-sig"))
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise InvalidValue(f"{where} is not JSON: {error}") from error
    if not isinstance(record, dict):
        raise InvalidValue(f"{where} must be a JSON object, not {type(record).__name__}")
    return record


def _line_at(file: Any, place: int) -> Text:
    file.seek(place)
    return _text(_object(file.readline(), f"{file.name}, byte {place}"), file.name)


def _text(record: dict[str, Any], where: str) -> Text:
    return Text(
        id=_needed(record, "id", where),
        conv=_word(record.get("conv")),
        session=_word(record.get("session")),
        speaker=_word(record.get("speaker")).strip(),
        time=_word(record.get("time")),
        text=_needed(record, "text", where),
        caption=_word(record.get("image_caption")).strip(),
    )


def _question(record: dict[str, Any], where: str, only: str) -> Question:
    relevant = record.get("relevant_ids") or []
    if not isinstance(relevant, list):
        raise InvalidValue(f"{where}: relevant_ids must be a list, not {relevant!r}")
    answers = record.get("answer")
    given = answers if isinstance(answers, list) else [answers]
    conv = _word(record.get("conv")) or only
    name = _needed(record, "id", where)
    return Question(
        key=f"{conv}/{name}",
        conv=conv,
        text=_needed(record, "text", where),
        relevant=frozenset(map(_word, relevant)),
        answers=tuple(word for word in map(_word, given) if word.strip()),
        category=_word(record.get("category")),
    )


def _needed(record: dict[str, Any], key: str, where: str) -> str:
    value = record.get(key)
    if value is None or not isinstance(value, str | int) or (key == "id" and value == ""):
        raise InvalidValue(f"{where} has no {key!r}")
    return _word(value)


def _word(value: Any) -> str:
    """As text that can be stored: JSON may hold half of a surrogate pair, which is no character."""
    word = "" if value is None else str(value)
    try:
        word.encode()
    except UnicodeEncodeError:
        return word.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return word
