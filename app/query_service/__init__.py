"""One question through the graph: ``service`` runs it; ``chunk_search`` stops at the chunks."""
