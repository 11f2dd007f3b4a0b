"""The `e5` embedder, and that of any ONNX folder: a transformer run by onnxruntime.

It leaves what a folder holds to `models.py`. One thread; the network is never asked.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from functools import cached_property

import onnxruntime
import tokenizers

from camillo.embed.batches import batches
from camillo.embed.models import ModelFolder, read_model_folder
from camillo.embed.windows import averaged, unit, valid, windows
from camillo.errors import InvalidValue
from camillo.numeric import np
from camillo.ports import Role, TokenVectors
from camillo.records import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from numpy import float32
    from numpy.typing import NDArray

__all__ = ["OnnxEmbedder"]

_TOKEN_OUTPUTS = ("last_hidden_state", "token_embeddings")
_MARKER = "▁"  # SentencePiece's for a leading space
_CONTINUED = "##"  # WordPiece's for none


class _Frame(NamedTuple):
    """What stands around a text's own tokens: special tokens and the role's prefix."""

    before: tuple[int, ...]
    after: tuple[int, ...]


class _Loaded:
    """The model in memory."""

    def __init__(self, folder: ModelFolder) -> None:
        self.tokenizer = tokenizers.Tokenizer.from_file(folder.tokenizer)
        self.tokenizer.no_truncation()
        self.tokenizer.no_padding()
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 3
        # What a pass needed is given back: a long one would else be paid for ever after.
        options.enable_cpu_mem_arena = False
        providers = ["CPUExecutionProvider"]
        self.session = onnxruntime.InferenceSession(folder.model, options, providers)
        self.inputs = {each.name for each in self.session.get_inputs()}
        self.output, self.per_token = _output(self.session, folder.model)
        self.frames = {"query": self._frame(folder.query), "passage": self._frame(folder.passage)}

    def _frame(self, prefix: str) -> _Frame:
        encoding = self.tokenizer.encode(prefix + "a")
        words = len(prefix.rstrip())
        special = encoding.special_tokens_mask
        own = [
            at for at, (_, end) in enumerate(encoding.offsets) if not special[at] and end > words
        ]
        ids = encoding.ids
        return _Frame(tuple(ids[: own[0]]), tuple(ids[own[-1] + 1 :]))


class OnnxEmbedder:
    """A model folder by path. The model is loaded on the first call."""

    def __init__(self, folder: str) -> None:
        self._folder = read_model_folder(folder)
        self._lock = threading.Lock()
        self.id, self.dim, self.limit = self._folder.id, self._folder.dim, self._folder.limit

    @cached_property
    def capabilities(self) -> frozenset[str]:
        return frozenset({"tokens"} if self._model.per_token else ())

    def embed(self, texts: Sequence[str], role: Role) -> NDArray[float32]:
        return self._embed(texts, role, None)

    def embed_tokens(
        self, texts: Sequence[str], role: Role
    ) -> tuple[NDArray[float32], list[TokenVectors]]:
        tokens: list[list[TokenVectors]] = []
        pooled = self._embed(texts, role, tokens)
        return pooled, [_joined(each, self.dim) for each in tokens]

    def pieces(self, ids: Iterable[int]) -> list[str]:
        to_token = self._model.tokenizer.id_to_token
        return [_piece(to_token(int(each)) or "") for each in ids]

    @property
    def _model(self) -> _Loaded:
        with self._lock:
            return self._model_once

    @cached_property
    def _model_once(self) -> _Loaded:
        return _Loaded(self._folder)

    def _embed(
        self, texts: Sequence[str], role: Role, tokens: list[list[TokenVectors]] | None
    ) -> NDArray[float32]:
        """Fills `tokens` with a list of windows for each text, if it is given."""
        model = self._model
        frame = model.frames[role]
        pieces, counts = self._pieces(model, texts, role)
        vectors = np.empty((len(pieces), self.dim), np.float32)
        of_pieces: list[TokenVectors] = [_NO_TOKENS] * len(pieces)
        for batch in batches([len(piece) for piece in pieces]):
            states, ids = self._run(model, [pieces[at] for at in batch])
            self._pool(states, [len(pieces[at]) for at in batch], vectors, batch)
            if tokens is not None:
                for row, at in enumerate(batch):
                    own = slice(len(frame.before), len(pieces[at]) - len(frame.after))
                    own_ids = ids[row, own].astype(np.int32)
                    of_pieces[at] = TokenVectors(own_ids, states[row, own].copy())
        if tokens is not None:
            rest = iter(of_pieces)
            tokens.extend([next(rest) for _ in range(count)] for count in counts)
        lengths = [len(piece) for piece in pieces]
        return unit(averaged(vectors, lengths, counts)) if len(texts) else vectors

    def _pieces(
        self, model: _Loaded, texts: Sequence[str], role: Role
    ) -> tuple[list[list[int]], list[int]]:
        """Token ids of every window with their frame, and how many windows each text has."""
        prefix = self._folder.query if role == "query" else self._folder.passage
        encode, pieces, counts = model.tokenizer.encode, [], []
        for text in texts:
            ids = encode(prefix + valid(text)).ids
            parts = [ids] if len(ids) <= self.limit else self._split(model.frames[role], ids)
            pieces += parts
            counts.append(len(parts))
        return pieces, counts

    def _split(self, frame: _Frame, ids: list[int]) -> list[list[int]]:
        own = ids[len(frame.before) : len(ids) - len(frame.after)]
        room = self.limit - len(frame.before) - len(frame.after)
        return [[*frame.before, *part, *frame.after] for part in windows(own, room)]

    def _run(self, model: _Loaded, pieces: list[list[int]]) -> tuple[Any, Any]:
        longest = max(map(len, pieces))
        ids = np.zeros((len(pieces), longest), np.int64)
        mask = np.zeros((len(pieces), longest), np.int64)
        for row, piece in enumerate(pieces):
            ids[row, : len(piece)] = piece
            mask[row, : len(piece)] = 1
        given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        feed = {name: value for name, value in given.items() if name in model.inputs}
        return model.session.run([model.output], feed)[0], ids

    def _pool(
        self, states: Any, lengths: list[int], vectors: NDArray[float32], batch: list[int]
    ) -> None:
        if states.ndim == 2:
            vectors[batch] = states
        elif self._folder.pooling == "cls":
            vectors[batch] = states[:, 0]
        else:
            for row, (at, length) in enumerate(zip(batch, lengths, strict=True)):
                vectors[at] = states[row, :length].mean(axis=0)


_NO_TOKENS = TokenVectors(np.zeros(0, np.int32), np.zeros((0, 0), np.float32))


def _joined(parts: list[TokenVectors], dim: int) -> TokenVectors:
    if len(parts) == 1:
        return parts[0]
    ids = np.concatenate([part.ids for part in parts])
    return TokenVectors(ids, np.concatenate([part.vectors for part in parts]))


def _output(session: Any, path: str) -> tuple[str, bool]:
    """Name of the output to read, and whether it has a vector for each token."""
    outputs = {each.name: len(each.shape) for each in session.get_outputs()}
    for name in (*_TOKEN_OUTPUTS, *outputs):
        if outputs.get(name) == 3:
            return name, True
    for name, sides in outputs.items():
        if sides == 2:
            return name, False
    raise InvalidValue(f"{path} gives no vectors: its outputs are {', '.join(outputs)}")


def _piece(token: str) -> str:
    if token.startswith(_MARKER):
        return " " + token[1:]
    return token[2:] if token.startswith(_CONTINUED) else token
