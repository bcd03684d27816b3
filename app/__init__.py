"""The doors and the outside world.

Read in the order a question travels:
    server, query_api          the HTTP door; others: tasks_api, langserve_routes, rag_service, cli
    service                    the one caller of the graph
    bootstrap                  Settings -> providers -> Ports -> graph -> service
    retrieval, grading, synthesis   the graph's ports, over LangChain's own types
    providers/                 one file per role; vendor SDKs are imported here and nowhere else
    ingest/                    load, split, identify, embed, store
"""

import logging

# As every library does: without it, Python prints warnings of a caller that has no logging set up.
logging.getLogger("garden").addHandler(logging.NullHandler())
