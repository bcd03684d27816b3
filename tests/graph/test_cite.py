"""The node ``cite`` in the graph: verified citations, or an outcome that says why there are none."""

from __future__ import annotations

import time

from graph.nodes.answer import NOT_SURE, UNVERIFIED
from graph.policy import Policy
from tests.contract.scripted_graph import Says, ask, chunk

PUMPS = chunk("pumps", "The red pump moves 40 litres each minute. Its filter is washed every month.", title="Pumps")
VALVES = chunk("valves", "The blue valve closes within nine seconds.", title="Valves", url="http://example.org/v")


async def test_an_answer_cites_by_document() -> None:
    """Markers are renumbered by document in order of first citation, and each counts an entry of the list."""
    state = await ask(
        [PUMPS, VALVES],
        Says("The blue valve closes within nine seconds [2]. The red pump moves 40 litres each minute [1]."),
    )
    assert state["outcome"] == "answered"
    assert state["answer"] == (
        "The blue valve closes within nine seconds [1]. The red pump moves 40 litres each minute [2]."
    )
    assert [entry["id"] for entry in state["citedDocuments"]] == ["valves", "pumps"]
    assert state["citedDocuments"][0] == {
        "id": "valves",
        "title": "Valves",
        "snippet": VALVES.text,
        "url": "http://example.org/v",
    }
    assert [citation.quote for citation in state["citations"]] == [VALVES.text, PUMPS.sentences[0]]


async def test_an_answer_without_a_marker_is_no_answer() -> None:
    """An answer whose every marker goes, or that never had one, ends as ``no_citations`` with nothing cited."""
    for text in (
        "The red pump moves 90 litres each minute [1].",
        "The red pump moves 40 litres each minute.",
        "Hm [7].",
    ):
        state = await ask([PUMPS], Says(text))
        assert (state["outcome"], state["citedDocuments"], state["citations"]) == ("no_citations", [], [])
        assert state["metadata"]["answerSynthesized"] is False


async def test_what_could_not_be_verified_is_not_called_missing() -> None:
    """A model's answer that loses every marker is reported as unverified; its own "I don't know" is no answer."""
    unverified = await ask([PUMPS], Says("The red pump moves 90 litres each minute [1]."))
    assert (unverified["outcome"], unverified["answer"]) == ("no_citations", UNVERIFIED)
    assert unverified["unsupported"] == ["The red pump moves 90 litres each minute."]
    unknown = await ask([PUMPS], Says("I don\u2019t know."))
    assert (unknown["outcome"], unknown["answer"]) == ("no_citations", NOT_SURE)


async def test_a_bare_answer_is_an_answer_where_attribution_is_verified() -> None:
    """With ``ATTRIBUTION=verified`` a sentence the model left unmarked gets its marker by the same rule."""
    state = await ask([PUMPS], Says("The red pump moves 40 litres each minute."), policy=Policy(attribution="verified"))
    assert state["answer"] == "The red pump moves 40 litres each minute [1]."


async def test_a_verbatim_line_is_cited_whatever_its_form() -> None:
    """What stands in the chunk letter for letter keeps its marker, also where it looks like an introduction."""
    listed = chunk(
        "files", "You can show a file in the file browser with locate=True:\n\nBut mind the path.", title="Files"
    )
    for line in ("You can show a file in the file browser with locate=True: [1]", "But mind the path [1]."):
        state = await ask([listed], Says(line))
        assert (state["outcome"], [c.support for c in state["citations"]]) == ("answered", [1.0])


async def test_what_follows_the_marker_of_a_clause_is_reported() -> None:
    """Of "… [1] and …" the clause before the marker may be carried alone; what follows it is named as unsupported."""
    state = await ask([PUMPS], Says("The red pump moves 40 litres each minute [1] and elves built the whole thing."))
    assert state["outcome"] == "answered"
    assert state["unsupported"] == ["elves built the whole thing."]


async def test_a_table_and_its_code_are_cited_as_they_stand() -> None:
    """A row copied from a table has full support, and no marker stands behind the fence of a block of code."""
    table = chunk(
        "hours", "| Day | From |\n|---|---|\n| Fri | 8:30 |\n\nRun:\n\n```\npump on\npump off\n```", title="Hours"
    )
    state = await ask(
        [table], Says("| Day | From [1] |\n|---|---|\n| Fri | 8:30 [1] |\n\nRun: [1]\n\n```\npump on\npump off\n```")
    )
    assert (
        state["answer"]
        == "| Day | From [1] |\n|---|---|\n| Fri | 8:30 [1] |\n\nRun: [1]\n\n```\npump on\npump off\n```"
    )
    assert {citation.support for citation in state["citations"]} == {1.0}
    state = await ask([table], Says("`pump off` [1]"))
    assert [citation.support for citation in state["citations"]] == [1.0]
    for code in ("pump on\nrm -rf /home", "# pump on\nrm -rf /home"):
        state = await ask([table], Says(f"Run: [1]\n\n```\n{code}\n```"))
        assert state["citations"] == []


async def test_unsupported_claims_are_reported_and_lower_confidence() -> None:
    """What no chunk carries is taken out and reported, and makes the answer less sure."""
    sure = await ask([PUMPS], Says("The red pump moves 40 litres each minute [1]."))
    unsure = await ask([PUMPS], Says("The red pump moves 40 litres each minute [1]. Elves built the whole thing [1]."))
    assert unsure["answer"] == "The red pump moves 40 litres each minute [1]."
    assert unsure["unsupported"] == ["Elves built the whole thing."]
    assert unsure["confidence"] < 0.6 < 0.9 < sure["confidence"]


async def test_a_bare_sentence_that_the_chunks_carry_is_no_reason_to_doubt() -> None:
    """A model that is sparing with markers is not doubted for sentences that its chunks plainly carry."""
    text = "The red pump moves 40 litres each minute [1]. Its filter is washed every month."
    state = await ask([PUMPS], Says(text))
    assert state["answer"] == text
    assert state["confidence"] > 0.9


async def test_too_little_confidence_is_no_answer() -> None:
    """An answer below the confidence that is asked for ends as ``low_confidence``, with every synthesizer."""
    says = "The red pump moves 40 litres each minute [1]."
    assert (await ask([PUMPS], Says(says, confidence=0.4)))["outcome"] == "low_confidence"
    assert (await ask([PUMPS], Says(says, confidence=0.6)))["outcome"] == "answered"
    mostly_made_up = f"{says} Elves built the whole thing. Dwarves paint it in winter. Giants sell it abroad."
    assert (await ask([PUMPS], Says(mostly_made_up)))["outcome"] == "low_confidence"


async def test_an_answer_that_was_cut_off_keeps_its_whole_sentences() -> None:
    """Of an answer cut by length, cited sentences stay, and no truncated sentence or marker does."""
    whole = "The red pump moves 40 litres each minute [1]."
    for rest in (" The blue val", " The blue valve closes within nine seconds [", " ["):
        state = await ask([PUMPS, VALVES], Says(whole + rest, truncated=True))
        assert state["answer"].startswith(whole[:-5])
        assert "The blue val" not in state["answer"]
        assert state["answer"].count("[") == 1


async def test_a_verbatim_answer_costs_nothing_to_cite() -> None:
    """An extractive answer is cited without a look at the meaning, and in a few milliseconds even here."""
    text = f"{PUMPS.sentences[0]} [1] {VALVES.sentences[0]} [2]"
    await ask([PUMPS, VALVES], Says(text))
    begun = time.thread_time()
    state = await ask([PUMPS, VALVES], Says(text))
    assert state["outcome"] == "answered"
    assert [citation.support for citation in state["citations"]] == [1.0, 1.0]
    assert time.thread_time() - begun < 0.5
