"""A small real cross-encoder in a folder, as Hugging Face exports one: it counts the words two texts share."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]")
PAD, SEP = 1, 3
"""The padding's id is not 0, and belongs to a word piece that would count if it were not masked."""


def write_cross_encoder(
    folder: Path,
    texts: Sequence[str],
    *,
    file: str = "model.onnx",
    scores: int = 1,
    labels: Sequence[str] = (),
    type_ids: bool = True,
    extra_input: str | None = None,
    batch: str | int = "batch",
    most_tokens: int = 512,
) -> Path:
    """Write the folder and return it. The logit is ``2 · shared - 3``, over the words of *texts*; *scores* of them.

    With *labels* it is a classifier: those are its classes, and the score of all but "entailment", or "LABEL_1", is 0.
    *type_ids*: which text a token is of comes as an input, as BERT has it; else it is found by the separator.
    """
    target = folder / file
    target.parent.mkdir(parents=True, exist_ok=True)
    tokenizer = _tokenizer(texts)
    tokenizer.save(str(folder / "tokenizer.json"))
    config = {"pad_token_id": PAD, "max_position_embeddings": 514}
    names = {"id2label": {str(number): label for number, label in enumerate(labels)}} if labels else {}
    (folder / "config.json").write_text(json.dumps(config | names))
    (folder / "tokenizer_config.json").write_text(json.dumps({"model_max_length": most_tokens}))
    counting = [label in ("entailment", "LABEL_1") for label in labels] or [True] * scores
    onnx.save(_model(tokenizer.get_vocab_size(), counting, type_ids, extra_input, batch), str(target))
    return folder


def logit(question: str, text: str, texts: Sequence[str]) -> float:
    """What the model must say of two texts, counted in plain Python."""
    tokenizer = _tokenizer(texts)
    tokenizer.no_padding()
    asked, reported = (tokenizer.encode(part, add_special_tokens=False).ids for part in (question, text))
    return 2.0 * sum(asked.count(token) for token in reported) - 3.0


def _tokenizer(texts: Sequence[str]) -> Tokenizer:
    before = pre_tokenizers.Whitespace()
    words = dict.fromkeys(word for text in texts for word, _ in before.pre_tokenize_str(text.lower()))
    vocabulary = {word: at for at, word in enumerate((*SPECIAL, *words))}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = before
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 2), ("[SEP]", SEP)]
    )
    tokenizer.enable_padding(length=600)  # as some exports have it: what is read must not depend on it
    return tokenizer


def _model(
    vocabulary: int, counting: Sequence[bool], type_ids: bool, extra_input: str | None, batch: str | int
) -> onnx.ModelProto:
    counts = np.ones(vocabulary, np.float32)
    counts[[0, 2, 3]] = 0.0
    constants = {
        "counts": counts,
        "one": np.array(1.0, np.float32),
        "none": np.array(0, np.int64),
        "sep": np.array(SEP, np.int64),
        "axis": np.array(1, np.int64),
        "first": np.array([1], np.int64),
        "last": np.array([2], np.int64),
        "shape": np.array([-1, 1], np.int64),
        "weight": np.array([counting], np.float32) * 2.0,
        "bias": np.array(counting, np.float32) * -3.0,
    }
    nodes = [
        helper.make_node("Equal", ["input_ids", "sep"], ["is_sep"]),
        helper.make_node("Cast", ["is_sep"], ["sep_count"], to=TensorProto.INT64),
        helper.make_node("CumSum", ["sep_count", "axis"], ["seps_before"], exclusive=1),
        helper.make_node("Greater", ["token_type_ids" if type_ids else "seps_before", "none"], ["in_text"]),
        helper.make_node("Cast", ["in_text"], ["text_mask"], to=TensorProto.FLOAT),
        helper.make_node("Sub", ["one", "text_mask"], ["question_mask"]),
        helper.make_node("Cast", ["attention_mask"], ["mask"], to=TensorProto.FLOAT),
        helper.make_node("Gather", ["counts", "input_ids"], ["counted"]),
        helper.make_node("Mul", ["counted", "mask"], ["kept"]),
        helper.make_node("Mul", ["kept", "question_mask"], ["of_question"]),
        helper.make_node("Mul", ["kept", "text_mask"], ["of_text"]),
        helper.make_node("Unsqueeze", ["input_ids", "last"], ["down"]),
        helper.make_node("Unsqueeze", ["input_ids", "first"], ["across"]),
        helper.make_node("Equal", ["down", "across"], ["same"]),
        helper.make_node("Cast", ["same"], ["attention"], to=TensorProto.FLOAT),
        helper.make_node("Unsqueeze", ["of_question", "first"], ["row"]),
        helper.make_node("Unsqueeze", ["of_text", "last"], ["column"]),
        helper.make_node("MatMul", ["row", "attention"], ["seen"]),
        helper.make_node("MatMul", ["seen", "column"], ["shared"]),
        helper.make_node("Reshape", ["shared", "shape"], ["pooled"]),
        helper.make_node("Gemm", ["pooled", "weight", "bias"], ["logits"]),
    ]
    names = ["input_ids", "attention_mask", *(["token_type_ids"] if type_ids else ()), *filter(None, [extra_input])]
    graph = helper.make_graph(
        nodes,
        "cross-encoder",
        [helper.make_tensor_value_info(name, TensorProto.INT64, [batch, "sequence"]) for name in names],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, [batch, len(counting)])],
        [numpy_helper.from_array(value, name) for name, value in constants.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10)
    onnx.checker.check_model(model)
    return model
