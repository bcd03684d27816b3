"""Tasks in a collection of their own: indexed, searched by meaning, and chatted about.

models   requests, results and checks of arguments
service  index, search, chat
chat     tasks as text: context, prompt and reply
"""
