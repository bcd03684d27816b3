"""Implementations of the graph's ports.

retriever            hybrid search in any store
grader               relevance from calibrated features, or ``rerank_grader``: from a reranker
extractive           answers made of the chunks' own sentences; no model
chat_synthesizer     answers of a chat model: prompt_budget, quoted
chat_rewriter        follow-up questions in full, by the same chat model
factories            which of them the settings name
"""
