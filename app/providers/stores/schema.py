"""The tables of an embedded collection.

A chunk that is written anew gets a new id, higher than every one before, so an id names one state of a chunk.
``segments`` lists what is saved to be searched: the chunks with ids in (low, high] as they were after ``at`` writes.
``removed`` lists the ids that are gone since their segment was made, with the number of the write.
"""

from __future__ import annotations

VERSION = 1
SCHEMA = """
CREATE TABLE meta (name TEXT PRIMARY KEY, value INTEGER) WITHOUT ROWID;
INSERT INTO meta VALUES ('size', NULL), ('writes', 0);
CREATE TABLE chunks (
    id INTEGER PRIMARY KEY AUTOINCREMENT, chunk_id TEXT UNIQUE NOT NULL, document_id TEXT NOT NULL,
    position INTEGER NOT NULL, content_hash TEXT NOT NULL, source TEXT, checksum INTEGER NOT NULL,
    metadata TEXT NOT NULL, words BLOB NOT NULL, dense BLOB NOT NULL, text TEXT NOT NULL, sentences BLOB NOT NULL);
CREATE INDEX by_document ON chunks (document_id, position, content_hash, chunk_id);
CREATE INDEX by_source ON chunks (source);
CREATE INDEX by_status ON chunks (json_extract(metadata, '$."status"'));
CREATE INDEX by_priority ON chunks (json_extract(metadata, '$."priority"'));
CREATE TABLE removed (id INTEGER PRIMARY KEY, at INTEGER NOT NULL);
CREATE TABLE segments (name TEXT PRIMARY KEY, low INTEGER, high INTEGER, rows INTEGER, at INTEGER);
"""
