"""The reader: a BERT encoder over a question and a passage, with a score for every sentence and one for no answer."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors.torch import load_file
from torch import Tensor, nn
from torch.nn import functional as F

from training.examples import Batch

HEADS = 12
EPSILON = 1e-12
HEAD_NAMES = ("token", "sentence", "whole")
"""The linear layers over the encoder's output, in the order of their logits: 1, 1 and 3 of them."""


class Layer(nn.Module):
    """One encoder layer of BERT, with the three projections of attention in one matrix."""

    def __init__(self, size: int, wide: int) -> None:
        super().__init__()
        self.qkv, self.o = nn.Linear(size, 3 * size), nn.Linear(size, size)
        self.i, self.f = nn.Linear(size, wide), nn.Linear(wide, size)
        self.l1, self.l2 = nn.LayerNorm(size, EPSILON), nn.LayerNorm(size, EPSILON)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """Map float [batch, tokens, size] to the same shape; *mask* is bool [batch, 1, 1, tokens]."""
        batch, tokens, size = x.shape
        heads = self.qkv(x).view(batch, tokens, 3, HEADS, size // HEADS).permute(2, 0, 3, 1, 4)
        q, k, v = heads.reshape(3, batch * HEADS, tokens, size // HEADS)
        padded = torch.where(mask, 0.0, -1e4).to(q.dtype).expand(batch, HEADS, 1, tokens)
        scores = torch.baddbmm(padded.reshape(-1, 1, tokens), q, k.transpose(1, 2), alpha=(size // HEADS) ** -0.5)
        # Not scaled_dot_product_attention: its backward pass takes half of a step on a CPU (torch 2.13).
        # ``_softmax`` stays in bfloat16, which autocast would leave.
        attended = torch.bmm(torch._softmax(scores, -1, half_to_float=False), v).view(batch, HEADS, tokens, -1)
        x = self.l1(x + self.o(attended.transpose(1, 2).reshape(batch, tokens, size)))
        return self.l2(x + self.f(F.gelu(self.i(x))))


@dataclass(frozen=True, slots=True)
class Scores:
    """Logits: ``sentences`` [batch, sentences], -1e4 where there is none; [batch] the others."""

    sentences: Tensor
    null: Tensor
    answerable: Tensor
    supported: Tensor


class Reader(nn.Module):
    """Scores the sentences of a passage for a question. The embeddings are those of all-MiniLM-L6-v2, frozen."""

    def __init__(self, folder: Path) -> None:
        """Read shape, embeddings and encoder from *folder*, which holds all-MiniLM-L6-v2."""
        super().__init__()
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        weights = load_file(folder / "model.safetensors")
        size, wide = config["hidden_size"], config["intermediate_size"]
        for name in ("word", "position", "token_type"):
            self.register_buffer(name, weights[f"embeddings.{name}_embeddings.weight"], persistent=False)
        self.register_buffer("norm_weight", weights["embeddings.LayerNorm.weight"], persistent=False)
        self.register_buffer("norm_bias", weights["embeddings.LayerNorm.bias"], persistent=False)
        self.layers = nn.ModuleList(Layer(size, wide) for _ in range(config["num_hidden_layers"]))
        self.token, self.sentence = nn.Linear(size, 1), nn.Linear(size, 1)
        self.whole = nn.Linear(size, 3)  # no sentence answers; the passage answers; it supports
        self._start(weights)

    def _start(self, weights: dict[str, Tensor]) -> None:
        for number, layer in enumerate(self.layers):
            at = f"encoder.layer.{number}"
            parts = [f"{at}.attention.self.{part}" for part in ("query", "key", "value")]
            for kind in ("weight", "bias"):
                getattr(layer.qkv, kind).data = torch.cat([weights[f"{part}.{kind}"] for part in parts])
                for own, theirs in POSITIONS.items():
                    getattr(getattr(layer, own), kind).data = weights[f"{at}.{theirs}.{kind}"].clone()

    def forward(self, ids: Tensor, types: Tensor, mask: Tensor, owner: Tensor, count: int) -> Scores:
        """Read int [batch, tokens]; *owner* says which sentence a token is in, -1 for none; *count* is the most."""
        tokens = ids.shape[1]
        x = self.word[ids] + self.position[:tokens] + self.token_type[types]
        x = F.layer_norm(x, x.shape[-1:], self.norm_weight, self.norm_bias, EPSILON)
        for layer in self.layers:
            x = layer(x, mask[:, None, None, :])
        x = x.float()
        place = F.one_hot(owner + 1, count + 1)[:, :, 1:].float()  # [batch, tokens, sentences]
        size = place.sum(1)
        mean = torch.einsum("bts,bth->bsh", place, x) / size.clamp(min=1)[..., None]
        peak = torch.where(place > 0, self.token(x), torch.tensor(-1e4)).amax(1)
        sentences = (self.sentence(mean).squeeze(-1) + peak).masked_fill(size == 0, -1e4)
        whole = self.whole(x[:, 0])
        return Scores(sentences, whole[:, 0], whole[:, 1], whole[:, 2])


POSITIONS = {
    "o": "attention.output.dense",
    "l1": "attention.output.LayerNorm",
    "i": "intermediate.dense",
    "f": "output.dense",
    "l2": "output.LayerNorm",
}
"""Part of a ``Layer`` -> name of the same part in BERT's weights."""


def loss_of(scores: Scores, batch: Batch) -> Tensor:
    """The mean loss of a batch.

    Questions: softmax over sentences and "none", half a BCE per sentence, half a BCE of answerability. Claims: BCE of
    support, half a softmax over sentences.
    """
    claim, gold, answerable = batch.claim, batch.gold, batch.answerable
    none = torch.where(claim > 0, torch.tensor(-1e4), scores.null)
    logits = torch.cat([scores.sentences, none[:, None]], 1)
    wanted = torch.cat([gold, ((1 - answerable) * (1 - claim))[:, None]], 1)
    right = torch.logsumexp(logits.masked_fill(wanted == 0, -1e4), 1)
    softmax = torch.logsumexp(logits, 1) - right
    real = scores.sentences > -1e3
    each = F.binary_cross_entropy_with_logits(scores.sentences, gold, reduction="none") * real
    each = each.sum(1) / real.sum(1).clamp(min=1)
    answers = F.binary_cross_entropy_with_logits(scores.answerable, answerable, reduction="none")
    supports = F.binary_cross_entropy_with_logits(scores.supported, answerable, reduction="none")
    question = batch.known * (softmax + 0.5 * each) + 0.5 * answers
    return ((1 - claim) * question + claim * (supports + 0.5 * batch.known * softmax)).mean()
