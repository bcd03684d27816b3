"""A small real text encoder in a folder, as sentence-transformers saves one: texts are near that share words."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

Family = Literal["bert", "mpnet", "xlm-roberta"]
SPECIAL: dict[Family, tuple[str, str, str, str]] = {
    "bert": ("[PAD]", "[UNK]", "[CLS]", "[SEP]"),
    "mpnet": ("<pad>", "<unk>", "<s>", "</s>"),
    "xlm-roberta": ("<pad>", "<unk>", "<s>", "</s>"),
}
SIZE = 64


def write_text_encoder(
    folder: Path,
    texts: Sequence[str],
    *,
    family: Family = "bert",
    file: str = "model.onnx",
    pooling: str | None = "mean",
    prompts: Mapping[str, str] | None = None,
    most_tokens: int = 128,
    pooled: bool = False,
    modules: Sequence[str] = ("Transformer", "Pooling", "Normalize"),
) -> Path:
    """Write the folder and return it. The vocabulary is that of *texts*.

    A token's vector is that of its word and the mean of all words' vectors, so that every pooling sees all of them.
    *pooled*: the graph returns one vector for a text, ``sentence_embedding``. BERT alone takes ``token_type_ids``.
    """
    target = folder / file
    target.parent.mkdir(parents=True, exist_ok=True)
    pad, unknown, first, last = SPECIAL[family]
    before = pre_tokenizers.Whitespace()
    words = dict.fromkeys(word for text in texts for word, _ in before.pre_tokenize_str(text.lower()))
    vocabulary = {word: at for at, word in enumerate((pad, unknown, first, last, *words))}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token=unknown))
    tokenizer.normalizer, tokenizer.pre_tokenizer = normalizers.Lowercase(), before
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{first} $A {last}", special_tokens=[(first, 2), (last, 3)]
    )
    tokenizer.enable_padding(length=600)  # as some exports have it: what is read must not depend on it
    tokenizer.save(str(folder / "tokenizer.json"))
    _write(folder / "config.json", {"model_type": family, "max_position_embeddings": 514})
    _write(folder / "sentence_bert_config.json", {"max_seq_length": most_tokens})
    paths = {"Transformer": "", "Pooling": "1_Pooling"}
    listed = [{"path": paths.get(kind, kind), "type": f"sentence_transformers.models.{kind}"} for kind in modules]
    _write(folder / "modules.json", listed)
    if pooling:
        (folder / "1_Pooling").mkdir(exist_ok=True)
        names = ("cls_token", "mean_tokens", "max_tokens", "mean_sqrt_len_tokens", "lasttoken")
        chosen = {f"pooling_mode_{name}": name.startswith(pooling) and "sqrt" not in name for name in names}
        _write(folder / "1_Pooling" / "config.json", chosen if any(chosen.values()) else {"pooling_mode": pooling})
    if prompts:
        _write(folder / "config_sentence_transformers.json", {"prompts": dict(prompts)})
    onnx.save(_model(len(vocabulary), type_ids=family == "bert", pooled=pooled), str(target))
    return folder


def _write(file: Path, content: Any) -> None:
    file.write_text(json.dumps(content), encoding="utf-8")


def _model(vocabulary: int, *, type_ids: bool, pooled: bool) -> onnx.ModelProto:
    table = np.random.default_rng(7).normal(size=(vocabulary, SIZE)).astype(np.float32)
    table[0] = 0.0
    table[[2, 3]] *= 0.5
    nodes = [
        helper.make_node("Gather", ["table", "input_ids"], ["words"]),
        helper.make_node("ReduceMean", ["words"], ["mean"], axes=[1], keepdims=0 if pooled else 1),
        *([] if pooled else [helper.make_node("Add", ["words", "mean"], ["last_hidden_state"])]),
    ]
    output, shape = ("mean", ["b", SIZE]) if pooled else ("last_hidden_state", ["b", "t", SIZE])
    if pooled:
        nodes.append(helper.make_node("Identity", ["mean"], ["sentence_embedding"]))
        output = "sentence_embedding"
    names = ["input_ids", "attention_mask", *(["token_type_ids"] if type_ids else ())]
    graph = helper.make_graph(
        nodes,
        "text-encoder",
        [helper.make_tensor_value_info(name, TensorProto.INT64, ["b", "t"]) for name in names],
        [helper.make_tensor_value_info(output, TensorProto.FLOAT, shape)],
        [numpy_helper.from_array(table, "table")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10)
    onnx.checker.check_model(model)
    return model
