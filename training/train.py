"""Train the reader: ``python -m training.train --public FILE --written FILE --out weights.pt``."""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import torch

from training.claims import made_claims, own_claims, public_claims, wice_claims, written_claims
from training.examples import Encoding, Example, public_examples, written_examples
from training.model import HEAD_NAMES, POSITIONS, Reader, loss_of
from training.onnx_graphs import arrays_of
from training.rows import read_rows

RATE, HEAD_RATE, DECAY, WARM_UP = 2e-4, 1e-3, 0.01, 80
BATCH_TOKENS = 8192
WHOLE = 3
"""Logits of the whole pair; weights of before claims were read have one fewer."""


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minilm", type=Path, required=True, help="folder of all-MiniLM-L6-v2")
    parser.add_argument("--public", type=Path, nargs="*", default=[], help="public question sets, .jsonl or .jsonl.xz")
    parser.add_argument("--written", type=Path, nargs="*", default=[], help="written questions, .jsonl")
    parser.add_argument("--small-files", type=Path, help="questions over small files, .jsonl")
    parser.add_argument("--claims", type=Path, nargs="*", default=[], help="written claims, .jsonl")
    parser.add_argument("--own-claims", type=Path, nargs="*", default=[], help="claims with their passages, .jsonl")
    parser.add_argument("--public-claims", type=Path, nargs="*", default=[], help="public sets of claims, .jsonl")
    parser.add_argument("--wice", type=Path, help="a clone of ryokamoi/wice")
    parser.add_argument("--made", type=int, default=12_000, help="most claims made from sentences, each pass")
    parser.add_argument("--init", type=Path, help="weights to start from (.pt, .onnx), in place of all-MiniLM-L6-v2")
    parser.add_argument("--most", type=int, default=120_000, help="most examples of each public set")
    parser.add_argument("--passes", type=int, default=2, help="passes over the written questions")
    parser.add_argument("--most-written", type=int, help="most examples of the written questions")
    parser.add_argument("--small-passes", type=int, default=2, help="passes over the questions over small files")
    parser.add_argument("--claim-passes", type=int, default=2, help="passes over the claims")
    parser.add_argument("--own-passes", type=int, default=3, help="passes over the claims with their passages")
    parser.add_argument("--most-claims", type=int, help="most examples of the other claims")
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--rate", type=float, default=RATE)
    parser.add_argument("--last-rate", type=float, default=0.0, help="share of the rate that is left at the end")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    reader, encoding = Reader(args.minilm), Encoding(args.minilm)
    if args.init:
        shipped = args.init.suffix == ".onnx"
        state = unpacked(arrays_of(args.init)) if shipped else torch.load(args.init, map_location="cpu")
        reader.load_state_dict(started(state), strict=False)
    examples = [example for path in args.public for example in public_examples(read_rows(path), args.seed, args.most)]
    written, claims, public, own = (
        [row for path in paths for row in read_rows(path)]
        for paths in (args.written, args.claims, args.public_claims, args.own_claims)
    )
    asked = [example for n in range(args.passes) for example in written_examples(written, args.seed + n)]
    if args.most_written:
        random.Random(args.seed).shuffle(asked)
    examples += asked[: args.most_written]
    small = read_rows(args.small_files) if args.small_files else []
    for seed in range(args.seed, args.seed + args.small_passes):
        examples += written_examples(small, seed)
    stated: list[Example] = []
    questions = {tuple(row["sentences"]): [asked for asked, *_ in row["questions"]] for row in written}
    for seed in range(args.seed, args.seed + args.claim_passes):
        stated += (
            written_claims(claims, questions, seed)
            + made_claims(written, seed, args.made)
            + public_claims(public, seed)
        )
        if args.wice:
            stated += wice_claims(args.wice, seed)
    if args.most_claims:
        random.Random(args.seed).shuffle(stated)
    examples += stated[: args.most_claims]
    for seed in range(args.own_passes):
        examples += own_claims([row for row in own if not row.get("held")], 10 * args.seed + seed)
    print(len(examples), "examples", flush=True)
    train(reader, encoding, examples, minutes=args.minutes, rate=args.rate, last=args.last_rate, seed=args.seed)
    torch.save(reader.state_dict(), args.out)


def started(state: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Weights of an earlier run as float32, heads under their present names."""
    named = {"tok": "token", "sent": "sentence", "cls": "whole"}
    found = {}
    for name, value in state.items():
        head, _, kind = name.partition(".")
        if head in named:
            found[f"{named[head]}.{kind}"] = value[: 2 if head == "cls" else 1].float()
        elif head == "whole" and len(value) < WHOLE:
            found[name] = torch.cat([value.float(), torch.zeros_like(value[: WHOLE - len(value)]).float()])
        elif name.startswith("layers") or head in named.values():
            found[name] = value.float()
    return found


def unpacked(arrays: Mapping[str, np.ndarray]) -> dict[str, torch.Tensor]:
    """The state of a ``Reader`` from the arrays that ``training.export`` wrote."""

    def array(name: str) -> np.ndarray:
        if name in arrays:
            return arrays[name].astype(np.float32)
        return (arrays[f"{name}.levels"].astype(np.float32) * arrays[f"{name}.scales"].astype(np.float32)).T

    made: dict[str, np.ndarray] = {}
    for kind, head in (("weight", array("heads.weight").T), ("bias", array("heads.bias"))):
        parts = np.split(head, (1, 2))
        made |= {f"{name}.{kind}": part for name, part in zip(HEAD_NAMES, parts, strict=True)}
    number = 0
    while f"encoder.layer.{number}.output.dense.bias" in arrays:
        at, own = f"encoder.layer.{number}", f"layers.{number}"
        for kind in ("weight", "bias"):
            parts = [array(f"{at}.attention.self.{part}.{kind}") for part in ("query", "key", "value")]
            made[f"{own}.qkv.{kind}"] = np.concatenate(parts)
            for mine, theirs in POSITIONS.items():
                made[f"{own}.{mine}.{kind}"] = array(f"{at}.{theirs}.{kind}")
        number += 1
    return {name: torch.tensor(value) for name, value in made.items()}


def train(
    reader: Reader, encoding: Encoding, examples: list[Example], *, minutes: float, rate: float, last: float, seed: int
) -> None:
    """One pass over *examples*, cut short so that the rate reaches the share *last* of it after *minutes*."""
    heads = [p for name, p in reader.named_parameters() if not name.startswith("layers")]
    body = [p for name, p in reader.named_parameters() if name.startswith("layers")]
    groups = [{"params": body, "lr": rate}, {"params": heads, "lr": HEAD_RATE * rate / RATE}]
    optimizer = torch.optim.AdamW(groups, betas=(0.9, 0.98), weight_decay=DECAY)
    base = [group["lr"] for group in optimizer.param_groups]
    batches = list(encoding.batches(examples, BATCH_TOKENS, seed))
    began, seen, total = time.monotonic(), 0, 0.0
    for step, batch in enumerate(batches, 1):
        done = max(step / len(batches), (time.monotonic() - began) / (60 * minutes))
        if done >= 1:
            break
        for group, at in zip(optimizer.param_groups, base, strict=True):
            group["lr"] = at * min(step / WARM_UP, 1.0) * (1 - (1 - last) * done)
        with torch.autocast("cpu", torch.bfloat16):
            scores = reader(*batch.inputs)
        loss = loss_of(scores, batch)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(reader.parameters(), 1.0)
        optimizer.step()
        seen += len(batch.answerable)
        total = loss.item() if step == 1 else 0.98 * total + 0.02 * loss.item()
        if step % 50 == 0:
            pace = seen / (time.monotonic() - began)
            print(f"step {step} of {len(batches)}, {seen} examples, {pace:.1f} a second, loss {total:.3f}", flush=True)


if __name__ == "__main__":
    main()
