"""Tasks in a collection of their own: indexed, searched by meaning, and talked about.

models    requests, results and checks of arguments    service   index, search, context, chat
context   tasks as text within a token budget          chat      prompt and streamed reply of a chat model
reply     the reply without a chat model
"""
