"""How good the garden is, measured.

questions.py    question files of every shape we read      run.py      ask them all, keep what came back
measures.py     the field's measures over what came back   report.py   a table, JSON, and a picture
fit.py          refit the relevance model                  calibrate.py  ... for your own corpus (`garden calibrate`)
fit_reranker.py ... and the scale of a reranker's scores
"""
