"""Citing: from a draft's markers to an answer whose every marker is verified.

brackets, code_spans, array_index, references    what a text's brackets are, in one pass
markers, document_names                          what stands inside a pair of them
citations, mending                               a draft cut into text and markers
spots, clauses                                   where a marker stands, and what it claims
verification, attribution                        each claim held against the chunks it names
render, live                                     the answer as text, whole or as it comes
"""
