"""The question in a prompt: agents often pass a whole prompt where a question is wanted."""

from __future__ import annotations

__all__ = ["question_of"]

_SHORT = 200  # characters that are taken as they are
_LONGEST = 250  # what is kept of a prompt at most
_SHORTEST = 10  # a segment with fewer says too little


def question_of(prompt: str) -> str:
    """A prompt of up to 200 characters itself; of a longer one its last line that ends in a
    question mark, else its last line of ten characters or more; never more than the last 250."""
    if len(prompt) <= _SHORT:
        return prompt
    lines = [line.strip() for line in prompt.splitlines()]
    for line in reversed(lines):
        if line.endswith(("?", "？", "؟")):
            return _last_sentence(line)[-_LONGEST:]
    for line in reversed(lines):
        if len(line) >= _SHORTEST:
            return line[-_LONGEST:]
    return prompt[-_LONGEST:]


def _last_sentence(line: str) -> str:
    """Of a long line only its last sentence, where one can be told."""
    if len(line) <= _LONGEST:
        return line
    for mark in (". ", "! ", "? ", "。", "！", "？"):
        at = line.rfind(mark, 0, len(line) - 1)
        if at >= 0:
            return line[at + len(mark) :].strip()
    return line
