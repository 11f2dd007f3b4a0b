"""Builds the `tokenizer.json` of multilingual-e5-small from the pieces in its weight file.

SentencePiece's Unigram: NMT and NFKC, runs of spaces folded, a marker before each word.
"""

from __future__ import annotations

from collections.abc import Sequence

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["SPECIAL", "e5_tokenizer"]

SPECIAL = ("<s>", "<pad>", "</s>", "<unk>")  # at ids 0 to 3
_MARKER = {"replacement": "▁", "prepend_scheme": "always", "split": True}


def e5_tokenizer(pieces: Sequence[str], scores: Sequence[float]) -> dict[str, Any]:
    """The file's content, for the tokenizers library."""
    specials = [(at, piece) for at, piece in enumerate(pieces) if at < 4 or piece == "<mask>"]
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [_added(at, piece) for at, piece in specials],
        "normalizer": _sequence("normalizers", [
            {"type": "Nmt"},
            {"type": "NFKC"},
            {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "},
        ]),
        "pre_tokenizer": {"type": "Metaspace", **_MARKER},
        "post_processor": _template(),
        "decoder": {"type": "Metaspace", **_MARKER},
        "model": {
            "type": "Unigram",
            "unk_id": SPECIAL.index("<unk>"),
            "vocab": list(zip(pieces, scores, strict=True)),
            "byte_fallback": False,
        },
    }  # fmt: skip


def _sequence(name: str, parts: list[dict[str, Any]]) -> dict[str, Any]:
    return {"type": "Sequence", name: parts}


def _added(id: int, content: str) -> dict[str, Any]:
    never = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    return {"id": id, "content": content, **never, "special": True}


def _template() -> dict[str, Any]:
    start, text, end = (
        {"SpecialToken": {"id": "<s>", "type_id": 0}},
        {"Sequence": {"id": "A", "type_id": 0}},
        {"SpecialToken": {"id": "</s>", "type_id": 0}},
    )
    tokens = {name: {"id": name, "ids": [at], "tokens": [name]} for at, name in enumerate(SPECIAL)}
    return {
        "type": "TemplateProcessing",
        "single": [start, text, end],
        "pair": [start, text, end, end, {"Sequence": {"id": "B", "type_id": 0}}, end],
        "special_tokens": {name: tokens[name] for name in ("<s>", "</s>")},
    }
