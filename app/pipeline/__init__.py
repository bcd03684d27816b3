"""Implementations of the graph's ports that need I/O; those that need none are in ``answering``.

retriever            hybrid search in any store
rerank_grader        relevance from a reranker; what `garden calibrate` has fitted
chat, passages       answers, and follow-up questions in full, of a chat model; the passages it is given
verifiers            what reads the claims of an answer (`VERIFIER`)
"""
