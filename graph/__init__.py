"""The state machine: no web, no vendor SDK, no environment.

Read in the order of a question:
    state, errors, ports   the state of a run, its failures, what the nodes need from outside
    policy                 bounds and thresholds, of the graph and of one run
    build                  nodes and edges, and the choice of the next node
    nodes/                 validate -> retrieve -> grade -> synthesize -> cite, and the two ends no_answer and fail

What the nodes compute stands in ``answering``.
"""
