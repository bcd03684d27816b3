"""From files to a collection, in the order it happens.

find.py             paths → files                   load.py        file → document (one ``load_*.py`` per format)
outline.py          headings → title, chapters and sections, one rule for every format
split.py            document → chunks               identify.py    ids and hashes that stay the same
reading.py          the two above, in a process of their own (``reader_process.py``)
parts.py            documents → batches             embed.py       batches → points
sink.py             points → a collection here      remote.py      ... or one that a running server holds
run.py              what is new, changed, the same or gone
pipeline.py         all of it: ``ingest(paths, store=…, embeddings=…, model_name=…)``
tasks.py            tasks for door S
"""
