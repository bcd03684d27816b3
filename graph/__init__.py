"""The state machine: no web, no vendor SDK, no environment.

Read in the order of a question:
    state, errors, ports   the state of a run, its failures, what the nodes need from outside
    policy                 bounds and thresholds, of the graph and of one run
    build                  nodes and edges, and the choice of the next node
    nodes/                 validate -> retrieve -> grade -> synthesize -> cite, and the two ends no_answer and fail
    relevance/             is a chunk about the question, does it answer it; extractive answers
    citing/                from a draft's markers to an answer whose every marker is verified
    evidence/              what a sentence claims, which stretch of a chunk carries it, and how well
    outputs                the public answer
    terms, sentences       words, and sentences and code, for all of them
    retrieval_validation   ``validate_retrieval``, by the same rules
"""
