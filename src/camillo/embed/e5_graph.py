"""Builds multilingual-e5-small as an ONNX graph: a BERT whose products are in 8-bit integers.

Weights have 7 bits and one scale a row, so that the pairwise sums of processors without VNNI never
saturate. Activations have 8 bits with fixed ranges (`e5_ranges.npz`, remade by
tools/calibrate_e5.py): ranges that follow the values make a vector depend on its neighbours in the
batch and on the processor (1e-2 in a component between AVX-512 and AVX2; fixed: the same bits).
Before that, powers of two move the few large channels from activations into weights (SmoothQuant,
Xiao et al. 2023): cosine to the unquantised model .9987, with ranges that follow the values .9964.
"""

from __future__ import annotations

from importlib.resources import files

from camillo.embed.e5s1 import Weights
from camillo.embed.onnx_file import Graph
from camillo.numeric import np
from camillo.records import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from numpy import float32, int8
    from numpy.typing import NDArray

__all__ = ["Ranges", "e5_graph", "shipped_ranges"]

WORDS_FILE = "words.bin"  # the word table, 96 MB of 120
_ROWS = 8192  # of the word table at a time: unpacked at once it would take 400 MB
_MOST = 63  # 7 bits
_LIKELIEST = 75.0  # bounds logits (measured: -63 to 65), so that no sum is 0 or infinite


class Ranges(NamedTuple):
    """Of the inputs of each linear layer (`l0.qkv`, `l0.ao`, `l0.fi`, `l0.fo`, `l1.qkv` …): powers
    of two per channel, and bounds after dividing by them."""

    shifts: dict[str, NDArray[int8]]
    low: dict[str, float]
    high: dict[str, float]


def shipped_ranges() -> Ranges:
    with (files("camillo.embed") / "e5_ranges.npz").open("rb") as file, np.load(file) as loaded:
        names, bounds = [str(name) for name in loaded["names"]], loaded["bounds"]
        shifts = {name: loaded[name] for name in names}
    low, high = (dict(zip(names, map(float, side), strict=True)) for side in bounds.T)
    return Ranges(shifts, low, high)


def e5_graph(weights: Weights, ranges: Ranges | None) -> Graph:
    """Inputs `input_ids` and `attention_mask`, int64 (texts, tokens); output `last_hidden_state`.

    Without ranges no product is quantised, and the inputs of the linear layers are outputs too.
    """
    return _Builder(weights, ranges).build()


class _Builder:
    def __init__(self, weights: Weights, ranges: Ranges | None) -> None:
        self._weights = weights
        self._ranges = ranges
        self._sizes = weights.sizes
        self._graph = Graph("multilingual-e5-small")

    def build(self) -> Graph:
        graph = self._graph
        ids = graph.input("input_ids", "int64", "texts", "tokens")
        mask = graph.input("attention_mask", "int64", "texts", "tokens")
        self._constants()
        mask = self._mask(mask)
        x = self._embedding(ids)
        for layer in range(self._sizes.layers):
            x = self._layer(f"l{layer}", x, mask)
        graph.output(x, "last_hidden_state", "float32", "texts", "tokens", self._sizes.hidden)
        return graph

    def _constants(self) -> None:
        heads, hidden = self._sizes.heads, self._sizes.hidden
        for name, values in {
            "split": [0, 0, heads, hidden // heads],
            "merge": [0, 0, hidden],
            "sides": [1, 3],
            "0": [0], "1": [1], "2": [2],
            **{f"{n} hidden": [n * hidden] for n in range(4)},
        }.items():  # fmt: skip
            self._graph.weight(name, np.array(values, np.int64))
        self._graph.weight("least", np.float32(-_LIKELIEST))
        self._graph.weight("most", np.float32(_LIKELIEST))

    def _mask(self, mask: str) -> str:
        """1 where a text has a token, 0 where it is padded: float32 (texts, 1, tokens, 1)."""
        return self._graph.op("Cast", self._graph.op("Unsqueeze", mask, "sides"), to=1)

    def _embedding(self, ids: str) -> str:
        graph, hidden = self._graph, self._sizes.hidden
        positions = self._weights.matrix("emb.pos", self._sizes.positions)
        places = graph.weight("emb.pos", positions + self._weights.tensor("emb.type", 0, hidden))
        tokens = graph.op("Slice", graph.op("Shape", ids), "1", "2")
        # Slice, not Gather over Range: onnxruntime fuses the latter wrongly.
        first = graph.op("Slice", places, "0", tokens, "0")
        return self._norm("emb.ln", graph.op("Add", self._words(ids), first))

    def _words(self, ids: str) -> str:
        graph, hidden = self._graph, self._sizes.hidden
        table = np.empty((self._sizes.vocabulary, hidden), np.int8)
        scales = np.empty((self._sizes.vocabulary, 1), np.float32)
        for start in range(0, len(table), _ROWS):
            end = min(start + _ROWS, len(table))
            rows = self._weights.tensor("emb.word", start * hidden, end * hidden)
            table[start:end], scales[start:end] = _quantised(rows.reshape(-1, hidden), 127)
        words = graph.op("Cast", graph.op("Gather", self._table(table), ids), to=1)
        return graph.op("Mul", words, graph.op("Gather", graph.weight("emb.scale", scales), ids))

    def _table(self, table: NDArray[int8]) -> str:
        return self._graph.weight_apart("emb.word", table, WORDS_FILE)

    def _layer(self, name: str, x: str, mask: str) -> str:
        graph, sizes = self._graph, self._sizes
        context = self._attention(name, x, mask)
        attended = self._linear(f"{name}.ao", context, *self._part(name, "ao", sizes.hidden))
        x = self._norm(f"{name}.aln", graph.op("Add", attended, x))
        inner = self._linear(f"{name}.fi", x, *self._part(name, "fi", sizes.inner))
        inner = graph.op("Gelu", inner, domain="com.microsoft")
        outer = self._linear(f"{name}.fo", inner, *self._part(name, "fo", sizes.hidden))
        return self._norm(f"{name}.oln", graph.op("Add", outer, x))

    def _attention(self, name: str, x: str, mask: str) -> str:
        """Softmax in single steps: onnxruntime's own adds up in another order on each processor."""
        graph, sizes = self._graph, self._sizes
        parts = [self._part(name, part, sizes.hidden) for part in "qkv"]
        scale = np.float32((sizes.hidden // sizes.heads) ** -0.5)
        parts[0] = (parts[0][0] * scale, parts[0][1] * scale)
        matrix, offset = (np.concatenate(each) for each in zip(*parts, strict=True))
        product = self._linear(f"{name}.qkv", x, matrix, offset)
        q, k, v = (
            graph.op("Slice", product, f"{n} hidden", f"{n + 1} hidden", "2") for n in range(3)
        )
        likeness = graph.op("MatMul", self._heads(q, 0, 2, 1, 3), self._heads(k, 0, 2, 3, 1))
        shares = graph.op("Exp", graph.op("Clip", likeness, "least", "most"))
        values = graph.op("Mul", self._heads(v, 0, 2, 1, 3), mask)
        total = graph.op("MatMul", shares, mask)
        context = graph.op("Div", graph.op("MatMul", shares, values), total)
        return graph.op("Reshape", graph.op("Transpose", context, perm=[0, 2, 1, 3]), "merge")

    def _heads(self, x: str, *order: int) -> str:
        return self._graph.op("Transpose", self._graph.op("Reshape", x, "split"), perm=order)

    def _part(self, layer: str, part: str, rows: int) -> tuple[NDArray[float32], NDArray[float32]]:
        matrix = self._weights.matrix(f"{layer}.{part}.w", rows)
        return matrix, self._weights.tensor(f"{layer}.{part}.b")

    def _norm(self, name: str, x: str) -> str:
        graph, weights = self._graph, self._weights
        scale = graph.weight(f"{name}.w", weights.tensor(f"{name}.w"))
        offset = graph.weight(f"{name}.b", weights.tensor(f"{name}.b"))
        epsilon = weights.epsilon
        return graph.op("LayerNormalization", x, scale, offset, axis=-1, epsilon=epsilon)

    def _linear(self, name: str, x: str, matrix: NDArray[float32], offset: NDArray[float32]) -> str:
        if self._ranges is not None:
            return self._integer_linear(name, x, matrix, offset, self._ranges)
        graph = self._graph
        graph.output(x, name, "float32", "texts", "tokens", matrix.shape[1])
        product = graph.op("MatMul", x, graph.weight(f"{name}.w", matrix.T))
        return graph.op("Add", product, graph.weight(f"{name}.b", offset))

    def _integer_linear(
        self, name: str, x: str, matrix: NDArray[float32], offset: NDArray[float32], ranges: Ranges
    ) -> str:
        graph = self._graph
        factors = np.exp2(ranges.shifts[name].astype(np.float32))
        if (factors != 1).any():
            x = graph.op("Mul", x, graph.weight(f"{name}.smooth", 1 / factors))
        table, scales = _quantised(matrix * factors, _MOST)
        step = np.float32((ranges.high[name] - ranges.low[name]) / 255)
        zero = np.uint8(round(-ranges.low[name] / float(step)))
        x_scale, x_zero = graph.weight(f"{name}.xs", step), graph.weight(f"{name}.xz", zero)
        return graph.op(
            "MatMulIntegerToFloat",
            graph.op("QuantizeLinear", x, x_scale, x_zero),
            graph.weight(f"{name}.w", np.ascontiguousarray(table.T)),
            x_scale,
            graph.weight(f"{name}.s", scales[:, 0]),
            x_zero,
            graph.weight(f"{name}.z", np.zeros(len(table), np.int8)),
            graph.weight(f"{name}.b", offset),
            domain="com.microsoft",
        )


def _quantised(rows: NDArray[float32], most: int) -> tuple[NDArray[int8], NDArray[float32]]:
    """Whole numbers from -most to most, and what each row of them is to be multiplied with."""
    scales = np.abs(rows).max(axis=1, keepdims=True) / np.float32(most)
    scales[scales == 0] = 1
    return np.rint(rows / scales).astype(np.int8), scales
