"""Countries and their people: "French" in an answer is "France" in its quote."""

from __future__ import annotations

from graph.terms import stem

_SAME_PLACE = {
    country: frozenset(people.split())
    for country, people in (
        pair.split(":")
        for pair in "america:american|britain:british|england:english|france:french|germany:german|spain:spanish|"
        "italy:italian|china:chinese|japan:japanese|russia:russian|india:indian|canada:canadian|greece:greek|rome:roman|"
        "europe:european|africa:african|asia:asian|australia:australian|netherlands:dutch|poland:polish|"
        "switzerland:swiss|sweden:swedish|turkey:turkish|mexico:mexican|brazil:brazilian|ireland:irish|"
        "scotland:scottish|wales:welsh|denmark:danish|norway:norwegian|finland:finnish|portugal:portuguese|"
        "egypt:egyptian|korea:korean|vietnam:vietnamese|austria:austrian|belgium:belgian|israel:israeli".split("|")
    )
}
DEMONYMS = {
    stem(one): frozenset(stem(other) for other in (country, *people) if other != one)
    for country, people in _SAME_PLACE.items()
    for one in (country, *people)
}
"""Stem -> stems that name the same country or its people."""
