"""Vector stores behind one interface: ``make.py`` opens the one that ``VECTOR_STORE`` names.

langchain_store.py   what LangChain asks of any store       remote.py   what stores behind a wire have in common
embedded.py          SQLite (database.py), searched as memory-mapped segments (segments.py, view.py, building.py)
qdrant.py            a Qdrant server (qdrant_*.py)          chroma.py   a Chroma server (chroma_*.py)
"""
