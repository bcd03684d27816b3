"""Interfaces, providers and the service around the graph.

Read in the order of one ``POST /query``:
    api/             HTTP: server, one module per interface, schemas, error mapping, LangServe, the page
    query_service/   the one caller of the graph
    pipeline/        what the graph's nodes call: retriever, graders, synthesizers
    providers/       embeddings, stores, chat models, rerankers: one file per implementation
Beside it:
    bootstrap/       the composition root
    cli/, library/   the command ``garden``; ``RAGService`` and ``validate_retrieval``
    ingest/, tasks/  documents into a collection; the Tasks API
    ops/             health, tracing, logging
"""

import logging

__version__ = "0.1.0"

# As every library does: without it, Python prints warnings of a caller that has no logging set up.
logging.getLogger("garden").addHandler(logging.NullHandler())
