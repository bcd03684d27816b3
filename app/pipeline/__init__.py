"""Implementations of the graph's ports that need I/O; those that need none are in ``graph.relevance``.

retriever            hybrid search in any store
rerank_grader        relevance from a reranker
chat_synthesizer     answers of a chat model: prompt_budget, quoted
chat_rewriter        follow-up questions in full, by the same chat model
fitted               what `garden calibrate` has fitted
"""
