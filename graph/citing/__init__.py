"""Citing: from a draft's markers to an answer whose every marker is verified.

markers                      what stands inside one pair of brackets
brackets, nouns              one character in place of each marker; the phrases that only hold a marker
citations                    a draft cut into text and markers
wording_of_claim             a claim without what wraps it, and its clauses
spots                        where a marker stands, and what it claims
verification, attribution    each claim held against the chunks it names
render, live                 the answer as text, whole or as it comes
"""
