"""Write the ONNX files that are shipped of encoders: ``python -m training.onnx_graphs MODEL_FOLDER OUT.onnx [--int8]``.

A file holds the graph alone. Each weight is an ONNX external-data entry: an offset and a length into the model's
``model.safetensors``, which ONNX Runtime maps. Mean pooling and L2 normalisation are the graph's last nodes, so a
session's output is the finished vector.

The graph is BERT or MPNet (post-layer norm, absolute positions, exact GELU) in ONNX Runtime's fused operators. The
linear layers may have 8-bit weights (``MatMulNBits``, one scale per block along the input dimension), the embedding
tables not; the nodes that round the weights are computed once, when ONNX Runtime opens a session.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

Precision = Literal["fp32", "int8"]

MS = "com.microsoft"
"""ONNX Runtime's own operators; those named without a domain are of the ONNX standard, opset 21."""
BLOCK = 32
"""Weights that share one 8-bit scale. With 128 of them, a text's vector in ONNX Runtime depends on its batch."""
BUCKETS, FAR = 32, 128
"""Of MPNet's position bias: learned values per head, and the distance from which on all share the last one."""


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="holds model.safetensors and config.json")
    parser.add_argument("out", type=Path)
    parser.add_argument("--int8", action="store_true", help="8-bit linear layers")
    args = parser.parse_args()
    args.out.write_bytes(EncoderGraph(args.folder, "int8" if args.int8 else "fp32").write())
    print(args.out, args.out.stat().st_size)


class EncoderGraph:
    """Collects nodes and weights in data-flow order; each method returns its output's name.

    Inputs: ``input_ids`` and ``attention_mask``, int32 [batch, tokens]. Output: float32 [batch, hidden size], each
    row of length 1. External data names the weights file in *folder* relative to it.
    """

    inputs: ClassVar[dict[str, list[str]]] = {"input_ids": ["b", "t"], "attention_mask": ["b", "t"]}
    output: ClassVar[str] = "vectors"

    def __init__(self, folder: Path, precision: Precision) -> None:
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        self.layers, self.heads = config["num_hidden_layers"], config["num_attention_heads"]
        self.epsilon = config["layer_norm_eps"]
        self.mpnet = config["model_type"] == "mpnet"
        self.names = MPNET if self.mpnet else BERT
        # MPNet numbers positions from the one after the padding's, whose row and those before it are not read.
        self.first_position = config["pad_token_id"] + 1 if self.mpnet else 0
        self.precision = precision
        self.tensors = read_tensors(folder / "model.safetensors")
        self.nodes: list[onnx.NodeProto] = []
        self.weights: dict[str, onnx.TensorProto] = {}
        self.mask = "attention_mask" if "attention_mask" in self.inputs else ""
        self.bias = ""

    def write(self) -> bytes:
        """Return the serialised ONNX model."""
        hidden = self.embed()
        if self.mpnet:
            self.bias = self.position_bias()
        for number in range(self.layers - 1):
            hidden = self.layer(hidden, f"encoder.layer.{number}")
        output = self.last(hidden, f"encoder.layer.{self.layers - 1}")
        self.nodes.append(helper.make_node("Identity", [output], [self.output], self.output))
        inputs = [helper.make_tensor_value_info(name, TensorProto.INT32, shape) for name, shape in self.inputs.items()]
        outputs = [helper.make_tensor_value_info(self.output, TensorProto.FLOAT, None)]
        graph = helper.make_graph(self.nodes, "encoder", inputs, outputs, list(self.weights.values()))
        opsets = [helper.make_opsetid("", 21), helper.make_opsetid(MS, 1)]
        return bytes(helper.make_model(graph, opset_imports=opsets, ir_version=10).SerializeToString())

    def embed(self) -> str:
        """Add up word, position and segment tables and normalise; every token is of segment 0."""
        words = self.weight("embeddings.word_embeddings.weight")
        positions = self.weight("embeddings.position_embeddings.weight", self.first_position)
        segments = types = ""
        if not self.mpnet:
            zero = helper.make_tensor("zero", TensorProto.INT32, [1], [0])
            segments = self.node("ConstantOfShape", [self.node("Shape", ["input_ids"])], value=zero)
            types = self.weight("embeddings.token_type_embeddings.weight")
        inputs = ["input_ids", segments, words, positions, types, *self.norm("embeddings.LayerNorm")]
        return self.node(f"{MS}.EmbedLayerNormalization", inputs, epsilon=self.epsilon)

    def position_bias(self) -> str:
        """Add MPNet's bias of attention, float32 [1, heads, tokens, tokens]: one value per head and distance."""
        positions, _ = self.tensors["embeddings.position_embeddings.weight"].shape
        zero, one = (helper.make_tensor("value", TensorProto.INT64, [], [value]) for value in (0, 1))
        first, step = (self.node("Constant", [], value=value) for value in (zero, one))
        tokens = self.node("Gather", [self.node("Shape", ["input_ids"]), self.constant("second", np.array(1))])
        numbers = self.node("Range", [first, tokens, step])
        columns = self.node("Unsqueeze", [numbers, self.constant("rows", np.zeros(1, np.int64))])
        rows = self.node("Unsqueeze", [numbers, self.constant("columns", np.ones(1, np.int64))])
        distances = self.node("Sub", [columns, rows])
        distances = self.node("Add", [distances, self.constant("offset", np.array(positions))])
        buckets = self.constant("buckets", position_buckets(np.arange(-positions, positions + 1)))
        values = self.node("Gather", [self.weight("encoder.relative_attention_bias.weight"), buckets], axis=0)
        bias = self.node("Transpose", [self.node("Gather", [values, distances], axis=0)], perm=[2, 0, 1])
        return self.node("Unsqueeze", [bias, self.constant("batch", np.zeros(1, np.int64))])

    def layer(self, hidden: str, at: str, kept: str = "") -> str:
        """Write one block: attention, then feed-forward, each added to its input and normalised.

        *kept* holds the tokens to go on with, which attend to all; without it all go on.
        """
        kept = kept or hidden
        projections = [f"{at}.{self.names[projection]}" for projection in ("query", "key", "value")]
        bias = self.node("Concat", [self.weight(f"{projection}.bias") for projection in projections], axis=0)
        attending = zip((kept, hidden, hidden), projections, strict=True)
        inputs = [*(self.linear(tokens, projection) for tokens, projection in attending), bias, self.mask, self.bias]
        attended = self.node(f"{MS}.MultiHeadAttention", inputs, num_heads=self.heads)
        norm = f"{at}.{self.names['attention_norm']}"
        hidden = self.add_and_norm(attended, kept, f"{at}.{self.names['attention_output']}", norm)
        wide = self.linear(hidden, f"{at}.intermediate.dense")
        wide = self.node(f"{MS}.BiasGelu", [wide, self.weight(f"{at}.intermediate.dense.bias")])
        return self.add_and_norm(wide, hidden, f"{at}.output.dense", f"{at}.output.LayerNorm")

    def add_and_norm(self, new: str, skip: str, dense: str, norm: str) -> str:
        added = self.node("Add", [self.linear(new, dense), skip])
        added = self.node("Add", [added, self.weight(f"{dense}.bias")])
        # Not SkipLayerNormalization, which takes a fifth of the time on a CPU (ONNX Runtime 1.31).
        return self.node("LayerNormalization", [added, *self.norm(norm)], epsilon=self.epsilon)

    def norm(self, at: str) -> list[str]:
        return [self.weight(f"{at}.weight"), self.weight(f"{at}.bias")]

    def last(self, hidden: str, at: str) -> str:
        """Write the last block, take the mean over unmasked tokens, and scale it to length 1."""
        hidden = self.layer(hidden, at)
        mask = self.node("Cast", ["attention_mask"], to=TensorProto.FLOAT)
        one = self.constant("one", np.ones(1, np.int64))
        weights = self.node("Unsqueeze", [self.node("LpNormalization", [mask], axis=-1, p=1), one])
        mean = self.node("Squeeze", [self.node("MatMul", [weights, hidden]), one])
        return self.node("LpNormalization", [mean], axis=-1, p=2)

    def linear(self, hidden: str, at: str) -> str:
        """Multiply ``hidden`` with the transposed weight; the operator that follows adds the bias."""
        if self.precision == "fp32":
            return self.node(f"{MS}.FusedMatMul", [hidden, self.weight(f"{at}.weight")], transB=1)
        rows, columns = self.tensors[f"{at}.weight"].shape
        blocks = self.weight(f"{at}.weight", shape=(rows, columns // BLOCK, BLOCK))
        inputs = [hidden, *self.eight_bit(blocks)]
        return self.node(f"{MS}.MatMulNBits", inputs, N=rows, K=columns, bits=8, block_size=BLOCK, accuracy_level=4)

    def eight_bit(self, blocks: str) -> list[str]:
        """Round blocks of weights to uint8 around 128, with one float32 scale each; return both names."""
        axis = self.constant("last_axis", np.full(1, 2))
        lowest = self.node("Neg", [self.node("ReduceMin", [blocks, axis])])
        largest = self.node("Max", [self.node("ReduceMax", [blocks, axis]), lowest])
        least = self.constant("least", np.array(np.finfo(np.float32).tiny))
        scales = self.node("Max", [self.node("Div", [largest, self.constant("steps", np.float32(127))]), least])
        zero_point = helper.make_tensor("value", TensorProto.UINT8, [1], [128])
        middle = self.node("ConstantOfShape", [self.node("Shape", [scales])], value=zero_point)
        levels = self.node("QuantizeLinear", [blocks, scales, middle], axis=2, block_size=BLOCK)
        return [levels, self.node("Reshape", [scales, self.constant("flat", np.full(1, -1))])]

    def constant(self, name: str, array: NDArray[Any] | np.generic) -> str:
        """Write an array into the graph."""
        self.weights[name] = numpy_helper.from_array(np.asarray(array), name)
        return name

    def weight(self, name: str, first: int = 0, shape: tuple[int, ...] = ()) -> str:
        """Refer to a tensor in the safetensors file, from its row *first* on, in another *shape* if one is given."""
        (rows, *columns), offset, length = self.tensors[name]
        skipped = length // rows * first
        tensor = TensorProto(name=name, dims=shape or (rows - first, *columns), data_type=TensorProto.FLOAT)
        tensor.data_location = TensorProto.EXTERNAL
        place = {"location": "model.safetensors", "offset": offset + skipped, "length": length - skipped}
        for key, value in place.items():
            tensor.external_data.add(key=key, value=str(value))
        self.weights[name] = tensor
        return name

    def node(self, operator: str, inputs: list[str], **attributes: Any) -> str:
        output = f"n{len(self.nodes)}"
        domain, _, kind = operator.rpartition(".")
        while inputs and not inputs[-1]:
            inputs = inputs[:-1]
        outputs = [output, f"{output}_lengths"] if kind == "EmbedLayerNormalization" else [output]
        self.nodes.append(helper.make_node(kind, inputs, outputs, output, domain=domain, **attributes))
        return output


class ReaderGraph(EncoderGraph):
    """The model ``input_ids`` int32 [1, tokens] to logits float32 [1, kept, 5].

    ``kept`` int32 [kept] says of which tokens. The logits are those of ``training.model``: a token's and a sentence's
    score, no sentence answers, the passage answers, it supports. *folder* holds all-MiniLM-L6-v2, whose embedding
    tables are mapped; *arrays* are those of ``training.export``, 8-bit with one scale for each output. What is
    multiplied with them is rounded to 8 bits as well, with one scale for the passage, so that a processor's 8-bit
    instructions do the work.
    """

    inputs: ClassVar[dict[str, list[str]]] = {"input_ids": ["b", "t"], "kept": ["k"]}
    output: ClassVar[str] = "logits"

    def __init__(self, folder: Path, arrays: dict[str, NDArray[Any]]) -> None:
        super().__init__(folder, "int8")
        self.arrays = arrays

    def last(self, hidden: str, at: str) -> str:
        """Write the last block, for the tokens that the heads read, and the heads."""
        hidden = self.layer(hidden, at, self.node("Gather", [hidden, "kept"], axis=1))
        product = self.node("MatMul", [hidden, self.weight("heads.weight")])
        return self.node("Add", [product, self.weight("heads.bias")])

    def linear(self, hidden: str, at: str) -> str:
        """Multiply ``hidden``, rounded to 8 bits, with the 8-bit weight."""
        names = [self.weight(f"{at}.weight.{part}") for part in ("levels", "scales")]
        return self.node(f"{MS}.DynamicQuantizeMatMul", [hidden, *names])

    def weight(self, name: str, first: int = 0, shape: tuple[int, ...] = ()) -> str:
        """Write one of the reader's arrays into the graph."""
        if name.startswith("embeddings."):
            return super().weight(name, first, shape)
        return self.constant(name, self.arrays[name])


def arrays_of(path: Path) -> dict[str, NDArray[Any]]:
    """Read the arrays that a ``ReaderGraph`` was written with."""
    weights = onnx.load(path, load_external_data=False).graph.initializer
    return {
        weight.name: numpy_helper.to_array(weight) for weight in weights if weight.data_location != TensorProto.EXTERNAL
    }


BERT = {
    "query": "attention.self.query",
    "key": "attention.self.key",
    "value": "attention.self.value",
    "attention_output": "attention.output.dense",
    "attention_norm": "attention.output.LayerNorm",
}
MPNET = {
    "query": "attention.attn.q",
    "key": "attention.attn.k",
    "value": "attention.attn.v",
    "attention_output": "attention.attn.o",
    "attention_norm": "attention.LayerNorm",
}
"""Part of a layer -> the name that its weights have in the file."""


def position_buckets(distances: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return which learned bias a distance between two tokens has, as ``MPNetEncoder`` of transformers does."""
    half = BUCKETS // 2
    exact = half // 2
    size = np.abs(distances)
    steps = np.log(np.maximum(size, 1).astype(np.float32) / exact) / np.log(FAR / exact) * (half - exact)
    large = np.minimum(exact + steps.astype(np.int64), half - 1)
    return half * (distances > 0) + np.where(size < exact, size, large)


class Tensor(NamedTuple):
    """Where a float32 tensor is in its file: ``offset`` and ``length`` in bytes."""

    shape: tuple[int, ...]
    offset: int
    length: int


def read_tensors(path: Path) -> dict[str, Tensor]:
    """Read the tensors' positions in a safetensors file, by name; the data stays on disk.

    Own code, since the ``safetensors`` package does not tell the offsets that ONNX Runtime maps. The file begins with
    eight bytes (little-endian), the length of a JSON header with each tensor's type, shape and byte range.
    """
    with path.open("rb") as stream:
        length = int.from_bytes(stream.read(8), "little")
        header = json.loads(stream.read(length))
    header.pop("__metadata__", None)
    return {
        name: Tensor(tuple(entry["shape"]), 8 + length + begin, end - begin)
        for name, entry in header.items()
        for begin, end in [entry["data_offsets"]]
        if entry["dtype"] == "F32"
    }


if __name__ == "__main__":
    main()
