"""Implementations of the graph's ports that need I/O; those that need none are in ``answering.relevance``.

retriever            hybrid search in any store
rerank_grader        relevance from a reranker; what `garden calibrate` has fitted
chat                 answers, and follow-up questions in full, of a chat model: prompt_parts
"""
