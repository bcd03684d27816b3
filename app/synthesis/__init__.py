"""The answer, written from the chunks that passed: two synthesizers behind the one port.

Read in this order:
    extractive        sentences of the chunks, verbatim; no model
    chat              any LangChain chat model
    prompt_budget     what fits the model's context
    quoted            how a chunk is set apart, so that it is read and never obeyed
    completion        one model call: streamed, in its time, whole or said to be cut
    thoughts          ``<think>…</think>`` taken out of a stream
"""
