"""The state machine: no web, no vendor SDK, no environment.

Read in the order a question travels:
    state      what is carried
    ports      what the nodes ask of the outside world
    build      the floor plan: nodes and edges
    routes     which way a state goes next
    nodes/     validate -> retrieve -> grade -> synthesize -> cite, and the two ends no_answer and fail
    relevance, extractive, evidence, citations   the rules the nodes apply
"""
