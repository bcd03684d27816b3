"""Pure functions on plain types, from a question and its passages to a verified answer: no LangGraph, no I/O.

Read in the order of a question:
    types        chunks, what was read of them, citations
    text/        sentences, words, blocks (lists, tables, code) and amounts
    questions/   compound questions and follow-ups
    relevance/   is a chunk about the question, does it answer it
    extract/     the sentences of a chunk that answer
    markers/     the citations in the text of a chat model
    evidence/    what a sentence claims, which stretch of a chunk supports it, and how well
"""
