"""Training of the shipped reader: data, model, training and export. Needs the extra ``train``; no package imports it.

data    examples from public question sets and from questions written for this project
model   the cross-encoder: all-MiniLM-L6-v2 with heads for sentences and answerability
train   one run: ``python -m training.train``
export  weights as 8-bit integers: ``python -m training.export``
"""
