"""Training data of public sets: ``python -m training.public_sets --repositories DIR --out FILE --claims FILE``.

DIR holds a clone of each repository as ``owner+name``. Questions are written as rows of the public file that
``training.examples`` reads, claims as rows ``{src, claim, title, sentences, label, gold}``. ``--measured`` names files
of questions and passages (JSON Lines) that are measured: rows that share a question, a title or thirteen words in a
row with them are left out. Repositories, commits and licences: ``docs/reader.md``.
"""

from __future__ import annotations

import argparse
import csv
import html
import io
import json
import random
import re
import subprocess
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any

Row = dict[str, Any]
LONGEST, MAX_SENTENCES = 950, 12
"""Characters and sentences of a passage: what the reader takes."""
SHARED_WORDS = 13
"""Words in a row that tell a copied passage, as is usual in tests for contamination."""
_CUT = re.compile(r"(?<=[.!?])[\"')\]”’]*\s+(?=[\"'(\[“‘]*[A-Z0-9])")
_ABBREVIATION = re.compile(
    r"(?:\b(?:Mrs?|Ms|Dr|Prof|St|Jr|Sr|vs|ca|No|Inc|Ltd|Co|e\.g|i\.e|U\.S|a\.m|p\.m|b)|\b[A-Z])\.\Z"
)
_BRACKETS = {"-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-COLON-": ":", "``": '"', "''": '"'}


class Clones:
    """Read files of the clones below *folder*."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def bytes_of(self, name: str, path: str, commit: str = "HEAD") -> bytes:
        """Read one file; with an empty *commit*, *path* is a blob's id. Raises ``CalledProcessError`` without it."""
        clone = self._folder / name.replace("/", "+")
        git = clone / "repo" if (clone / "repo").is_dir() else clone
        what = f"{commit}:{path}" if commit else path
        return subprocess.run(["git", "-C", git, "cat-file", "blob", what], capture_output=True, check=True).stdout  # noqa: S607 - paths of this file

    def text(self, name: str, path: str, commit: str = "HEAD") -> str:
        """Read one file as text."""
        return self.bytes_of(name, path, commit).decode("utf-8-sig", "replace")

    def rows(self, name: str, path: str) -> list[Row]:
        """Read the rows of a JSON Lines file."""
        return [json.loads(line) for line in self.text(name, path).split("\n") if line.strip()]

    def table(self, name: str, path: str, **form: Any) -> list[Row]:
        """Read the rows of a table with a header."""
        return list(csv.DictReader(io.StringIO(self.text(name, path)), delimiter="\t", quoting=csv.QUOTE_NONE, **form))


# --- claims ------------------------------------------------------------------------------------------------------


def vitaminc(clones: Clones) -> Iterator[Row]:
    """Claims over one fact of Wikipedia, with evidence before and after the fact was changed."""
    for name in ("vitaminc_real", "vitaminc_synthetic"):
        packed = clones.bytes_of("TalSchuster/talschuster.github.io", f"static/{name}.zip")
        with zipfile.ZipFile(io.BytesIO(packed)) as z:
            lines = z.read(f"{name}/test.jsonl").decode("utf-8", "replace").splitlines()
        for row in map(json.loads, lines):
            title = untokenized(row["page"].replace("_", " "))
            yield claim(name, row["claim"], row["evidence"], row["label"] == "SUPPORTS", title)


def fever(clones: Clones) -> Iterator[Row]:
    """Claims with the first paragraph of the article that supports or refutes them."""
    name, folder = "shaggyday/evaluating-human-rationales", "data/fever"
    chance = random.Random(3)
    for row in clones.rows(name, f"{folder}/test.jsonl"):
        group = min(row["evidences"], key=len)
        documents = {row["docid"] for row in group}
        if len(documents) != 1:
            continue
        document = documents.pop()
        try:
            lines = [untokenized(line) for line in clones.text(name, f"{folder}/docs/{document}").split("\n")]
        except subprocess.CalledProcessError:
            continue
        gold = sorted({n for row in group for n in range(row["start_sentence"], row["end_sentence"])})
        if not gold or gold[-1] >= len(lines) or not all(lines[n] for n in gold):
            continue
        kept = [n for n, line in enumerate(lines) if line]
        start, end = around([lines[n] for n in kept], [kept.index(n) for n in gold], chance)
        supported = row["classification"] == "SUPPORTS"
        yield {
            **claim("fever", row["query"], "", supported, untokenized(document.replace("_", " "))),
            "sentences": [lines[n] for n in kept[start:end]],
            "gold": [kept.index(n) - start for n in gold] if supported else [],
        }


def fool_me_twice(clones: Clones) -> Iterator[Row]:
    """Claims that players wrote to mislead, with the sentences that decide them and others of the page."""
    chance = random.Random(5)
    repository = "google-research/fool-me-twice"
    for row in (row for part in ("dev", "test") for row in clones.rows(repository, f"dataset/{part}.jsonl")):
        gold, others = (
            [" ".join(part["text"].split()).lstrip(", ") for part in row[key]]
            for key in ("gold_evidence", "retrieved_evidence")
        )
        sentences = list(dict.fromkeys([*gold, *[other for other in others if 25 < len(other) < 350][:3]]))
        chance.shuffle(sentences)
        supported = row["label"] == "SUPPORTS"
        yield {
            **claim("fm2", row["text"], "", supported, row["wikipedia_page"]),
            "sentences": sentences,
            "gold": sorted(map(sentences.index, set(gold))) if supported else [],
        }


def factcheck_bench(clones: Clones) -> Iterator[Row]:
    """Claims of a chat model's answers with passages of web pages, judged by people."""
    for row in clones.rows("yuxiaw/Factcheck-GPT", "subtasks/subtask3_claim_evidence_stance.jsonl"):
        evidence = re.sub(r"\s*\[ (?:edit|citation needed|\d+) \]", "", row["evidence"])
        yield claim("factcheck_bench", row["claim"], evidence, row["stance"] == "completely-support")


def expert_qa(clones: Clones) -> Iterator[Row]:
    """Sentences of chat models with the passage they cite, judged by experts.

    An expert could open the page, so a supported sentence is kept only with most of its words in the passage.
    """
    for part in ("rand_val", "rand_test", "domain_val", "domain_test"):
        for row in clones.rows("chaitanyamalaviya/ExpertQA", f"data/lfqa/{part}.jsonl"):
            for entry in (entry for answer in row["answers"].values() for entry in answer["claims"]):
                if entry["support"] not in {"Complete", "Partial", "Incomplete"} or len(entry["evidence"]) != 1:
                    continue
                evidence = re.sub(r"https?://\S+|^\s*\[\d+\]", " ", entry["evidence"][0])
                said = re.sub(r"\s*\[\d+\]", "", entry["claim_string"]).replace("**", "").lstrip("-*• ")
                if entry["support"] != "Complete" or covered(said, evidence) >= 0.65:
                    yield claim("expertqa", said, evidence, entry["support"] == "Complete")


def yes_or_no(clones: Clones) -> Iterator[Row]:
    """BoolQ's questions with "Yes." and "No.", over their passages."""
    for part in ("dev", "test"):
        for row in clones.rows("shaggyday/evaluating-human-rationales", f"data/boolq/{part}_data.jsonl"):
            evidence = row["evidences"][0]
            text = (evidence[0] if isinstance(evidence, list) else evidence)["text"]
            asked = f"{row['query'][:1].upper()}{row['query'][1:].rstrip('?')}?"
            for word, label in (("Yes", "True"), ("No", "False")):
                yield claim("boolq", f"{asked} {word}.", text, row["classification"] == label)


def pairs_of_sentences(clones: Clones) -> Iterator[Row]:
    """Paraphrase, inference and monotonicity: PAWS, ConjNLI and MED."""
    blob = "122eba09efa0d70e9df5b1d83095675194a3abf6"  # data/pawsx/dev-en.tsv of an earlier commit
    for line in clones.text("wuhjie/few_shots_that_matters_wu", blob, "").splitlines():
        first, second, same = (*line.split("\t"), "", "")[:3]
        for evidence, said in ((first, second), (second, first)):
            if same.strip() == "1" or len(said) >= 0.8 * len(evidence):  # what is shortened may well follow
                yield claim("paws", said, evidence, same.strip() == "1")
    for row in clones.table("swarnaHub/ConjNLI", "data/NLI/conj_dev.tsv"):
        yield claim("conjnli", row["Hypothesis"].strip('"'), row["Premise"].strip('"'), row["Label"] == "entailment")
    for row in clones.table("verypluming/MED", "MED.tsv"):
        yield claim("med", row["sentence2"], row["sentence1"], row["gold_label"] == "entailment")


def split_sentences(clones: Clones) -> Iterator[Row]:
    """WikiSplit: a part of a long sentence follows from it, unless it adds a name or a number."""
    for part in ("validation", "tune", "test"):
        for line in clones.text("google-research-datasets/wiki-split", f"{part}.tsv").splitlines():
            whole, _, halves = line.partition("\t")
            for half in halves.split("<::::>"):
                added = [name for name in re.findall(r"(?<=\w )(?:[A-Z]\w{2,}|\d[\d,.]*)", half) if name not in whole]
                if added or covered(half, whole) == 1.0:
                    yield claim("wikisplit", half, whole, not added)


def edited_summaries(clones: Clones) -> Iterator[Row]:
    """SummEdits: one sentence of a summary, edited, judged consistent or not by people."""
    for part in ("scitldr", "ectsum", "sales_email", "sales_call", "qmsumm"):
        for row in json.loads(clones.text("salesforce/factualNLG", f"data/summedits/summedits_{part}.json")):
            before = sentences_of(row["original_summary"] or "")
            changed = [sentence for sentence in sentences_of(row["summary"]) if sentence not in before]
            if len(changed) == 1:
                yield claim(f"summedits_{part}", changed[0], row["doc"], row["label"] == 1)


CLAIMS: dict[Callable[[Clones], Iterator[Row]], int] = {
    vitaminc: 6000,
    fever: 2500,
    fool_me_twice: 2500,
    factcheck_bench: 1300,
    expert_qa: 900,
    yes_or_no: 2000,
    pairs_of_sentences: 3500,
    split_sentences: 1500,
    edited_summaries: 600,
}
"""Sets of claims, and the most rows taken of each."""

# --- questions ---------------------------------------------------------------------------------------------------


def tydi_qa(clones: Clones) -> Iterator[Row]:
    """English questions of people who had not seen the passage of Wikipedia that answers."""
    # data/tydiqa/tydiqa.goldp.en.{train,dev}.json of an earlier commit
    for blob in ("8b74397060a89773abd13a21df4d63679998389f", "27170258b5c766783a62cdad4d3ba5932e7632b7"):
        yield from squad_form("tydiqa", json.loads(clones.text("wuhjie/few_shots_that_matters_wu", blob, "")))


def covid_qa(clones: Clones) -> Iterator[Row]:
    """Questions of experts over papers; of those under CC BY or CC0 alone."""
    data = json.loads(clones.text("deepset-ai/COVID-QA", "data/question-answering/200423_covidQA.json"))
    free = re.compile(r"License:\s*(?:cc-by|cc0|pd)\.?\s", re.IGNORECASE)
    for article in data["data"]:
        article["paragraphs"] = [paragraph for paragraph in article["paragraphs"] if free.search(paragraph["context"])]
    yield from squad_form("covidqa", data)


def squad_form(src: str, data: Row) -> Iterator[Row]:
    """Questions in SQuAD's form, each with the sentences around its answer, and with others of the same text."""
    chance = random.Random(8)
    for n, paragraph in enumerate(paragraph for article in data["data"] for paragraph in article["paragraphs"]):
        spans, sentences = spans_of(paragraph["context"]), sentences_of(paragraph["context"])
        for asked in paragraph["qas"]:
            answers = [
                (answer["answer_start"], answer["answer_start"] + len(answer["text"])) for answer in asked["answers"]
            ]
            gold = [k for k, (a, b) in enumerate(spans) if any(a < stop and start < b for start, stop in answers)]
            if not gold or gold[-1] - gold[0] > 3:
                continue
            begin, end = around(sentences, gold, chance)
            shared = {"src": src, "q": asked["question"], "title": "", "group": f"{src} {n}"}
            yield shared | {"sents": sentences[begin:end], "gold": [k - begin for k in gold], "kind": "pos"}


def questions_of_places(clones: Clones) -> Iterator[Row]:
    """Everyday questions on hotels and restaurants, whose answers are mixed with others of the same place."""
    chance = random.Random(8)
    for path in ("data/knowledge.json", "data_eval/knowledge.json"):
        places = json.loads(clones.text("alexa/alexa-with-dstc9-track1-dataset", path))
        for place in (place for domain in places.values() for place in domain.values()):
            answers = [(doc["title"], sentences_of(doc["body"])) for doc in place["docs"].values()]
            for question, answer in chance.sample(answers, min(2, len(answers) - 1)):
                others = [other for asked, other in answers if asked != question]
                taken = chance.sample(others, min(3, len(others)))
                before = [sentence for other in taken[:1] for sentence in other]
                after = [sentence for other in taken[1:] for sentence in other]
                gold = list(range(len(before), len(before) + len(answer)))
                row = {"src": "dstc9", "q": question, "title": place["name"] or "", "group": f"dstc9 {place['name']}"}
                yield row | {"sents": [*before, *answer, *after], "gold": gold, "kind": "pos"}


QUESTIONS: dict[Callable[[Clones], Iterator[Row]], int] = {tydi_qa: 3500, covid_qa: 2000, questions_of_places: 1000}
"""Sets of questions, and the most rows taken of each."""

# --- what they share ---------------------------------------------------------------------------------------------


def claim(src: str, said: str, evidence: str, supported: bool, title: str = "") -> Row:
    """Make a row; a single sentence of evidence is what a supported claim rests on."""
    sentences = sentences_of(evidence)
    gold = [0] if supported and len(sentences) == 1 else []
    return {
        "src": src,
        "claim": untokenized(said),
        "title": title,
        "sentences": sentences,
        "label": supported,
        "gold": gold,
    }


def untokenized(text: str) -> str:
    """Undo the tokens of a treebank, and fold white space."""
    for token, sign in _BRACKETS.items():
        text = text.replace(token, sign)
    text = re.sub(r"\s+", " ", html.unescape(text)).strip()
    text = re.sub(r" (n't|'(?:s|re|ve|ll|d|m)\b|[,.;:!?%)\]])", r"\1", text)
    return re.sub(r"([(\[]) (?=\S)", r"\1", text)


def sentences_of(text: str) -> list[str]:
    """Split *text* at line ends and after sentences."""
    return [untokenized(text[start:end]) for start, end in spans_of(text)]


def spans_of(text: str) -> list[tuple[int, int]]:
    """Find the sentences of *text*, none of white space alone."""
    ends = [match.end() for match in _CUT.finditer(text) if not _ABBREVIATION.search(text[: match.start()][-8:])]
    edges = sorted({0, *ends, *(match.end() for match in re.finditer("\n", text)), len(text)})
    return [(start, end) for start, end in pairwise(edges) if untokenized(text[start:end])]


def around(sentences: Sequence[str], gold: Sequence[int], chance: random.Random) -> tuple[int, int]:
    """Choose the sentences from the first of *gold* to the last and as many others as fit."""
    start, end = gold[0], gold[-1] + 1
    while True:
        wider = [(start - 1, end)] * (start > 0) + [(start, end + 1)] * (end < len(sentences))
        fitting = [(i, j) for i, j in wider if sum(map(len, sentences[i:j])) < LONGEST and j - i <= MAX_SENTENCES]
        if not fitting:
            return start, end
        start, end = chance.choice(fitting)


def words(text: str) -> list[str]:
    """List the words of *text* in lower case."""
    return re.findall(r"[a-z0-9]+", text.lower())


def covered(said: str, evidence: str) -> float:
    """Return the share in [0, 1] of the words of *said* that *evidence* has."""
    own, known = words(said), set(words(evidence))
    return sum(word in known for word in own) / max(1, len(own))


class Measured:
    """What is measured, and so must not be trained on."""

    def __init__(self, files: Iterable[Path]) -> None:
        rows = [json.loads(line) for path in files for line in path.read_text(encoding="utf-8").splitlines() if line]
        names = ("title", "question")
        self._texts = {" ".join(words(str(row[name]))) for row in rows for name in names if row.get(name)}
        self._runs = {run for row in rows for run in self._runs_of(str(row.get("text", "")))}

    def has(self, row: Row) -> bool:
        """Whether the question, the title, or a run of words of the passage is measured."""
        own = {" ".join(words(row.get(name, ""))) for name in ("q", "claim", "title")}
        passage = " ".join(row.get("sents") or row["sentences"])
        return not self._texts.isdisjoint(own - {""}) or not self._runs.isdisjoint(self._runs_of(passage))

    @staticmethod
    def _runs_of(text: str) -> Iterator[str]:
        own = words(text)
        yield from (" ".join(own[at : at + SHARED_WORDS]) for at in range(len(own) - SHARED_WORDS + 1))


def chosen(rows: Iterable[Row], most: int, measured: Measured, seed: int = 7) -> list[Row]:
    """Draw at most *most* rows of a readable size that are not measured; as many of each set as can be."""
    kept: list[Row] = []
    for row in rows:
        sentences = row.get("sents") or row.get("sentences") or []
        long = sum(map(len, sentences)) > LONGEST + 200 or len(sentences) > MAX_SENTENCES
        if sentences and not long and len(words(row.get("q") or row["claim"])) > 1 and not measured.has(row):
            kept.append(row)
    random.Random(seed).shuffle(kept)
    kept.sort(key=lambda row: row["src"])
    sets = [list(own) for _, own in groupby(kept, key=lambda row: row["src"])]
    return [row for own in sets for row in own[: max(1, most // len(sets))]]


def main() -> None:
    """Run the command; it prints how many rows each set gives."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repositories", type=Path, required=True)
    parser.add_argument("--measured", type=Path, nargs="*", default=[])
    parser.add_argument("--out", type=Path, required=True, help="questions with their passages")
    parser.add_argument("--claims", type=Path, required=True, help="claims with their passages")
    args = parser.parse_args()
    clones, measured = Clones(args.repositories), Measured(args.measured)
    for path, sets in ((args.out, QUESTIONS), (args.claims, CLAIMS)):
        with path.open("w", encoding="utf-8") as file:
            for read, most in sets.items():
                rows = chosen(read(clones), most, measured)
                true = sum(row.get("label", True) for row in rows)
                print(f"{read.__name__}: {len(rows)} rows, {true} true", flush=True)
                file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


if __name__ == "__main__":
    main()
