"""Vector stores behind one interface (``chunk_store.ChunkStore``): ``make.py`` opens what ``VECTOR_STORE`` names.

chunk_store.py       base of all, a LangChain ``VectorStore``   any_vector_store.py   any other ``VectorStore``
embedded.py          SQLite (database.py), searched as memory-mapped segments (segments.py)
remote.py            base of the servers' stores: qdrant.py (qdrant-client) and chroma.py (chromadb)
"""

import re

COLLECTION_NAME = re.compile(r"[\w-][\w.-]{0,99}")
"""What a collection may be called, in every store. It is the name of a folder, and part of addresses."""
