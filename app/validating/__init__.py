"""Door V behind its function (``app/validation.py``): the caller's own chunks, judged as the graph judges its own.

given_chunks   the caller's chunks as a store that can be searched
parts          the models it needs, loaded once
cohere         Cohere's one rerank call
"""
