"""Implementations of the graph's ports.

retriever            hybrid search in any store
grader               relevance from calibrated features, or ``rerank_grader``: from a reranker
extractive           answers made of the chunks' own sentences; no model
chat_synthesizer     answers of a chat model: prompt_budget, quoted
factories            which of them the settings name
"""
