"""Door S behind its wire (``app/api/tasks.py``): tasks in a collection of their own, found by meaning, talked about.

models    what a task search takes and gives     input     what a caller gives, checked
service   index, search, build a context         context   the context, inside its budget
chat      an answer streamed over that context   reply     ... without a model
"""
