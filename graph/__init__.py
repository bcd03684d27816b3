"""The state machine: no web, no vendor SDK, no environment.

Read in the order a question travels:
    state, errors, ports   what is carried, how it can fail, what the nodes ask of the outside world
    build, routes          the floor plan: nodes and edges; which way a state goes next
    steps, nodes/          validate -> retrieve -> grade -> synthesize -> cite, and the two ends no_answer and fail
    relevance/             gate one and gate two: is a chunk about the question, does it answer it
    citing/                from a draft's markers to an answer whose every marker is verified
    evidence/              which stretch of a chunk carries a sentence, and how well
    outputs                the public answer
    terms, sentences       words and sentences, for all of them
    retrieval_validation, validation_rules    door V, by the same rules
"""
