"""The citations in the text of a chat model, complete or as a stream."""
