"""Tasks in a collection of their own: indexed, searched by meaning, and chatted about.

models    requests, results and checks of arguments    service   index, search, context, chat
context   tasks as text: context, reply without model  chat      prompt and streamed reply of a chat model
"""
