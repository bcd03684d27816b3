"""Training and fitting of what is shipped. No package imports it; a run prints its progress.

The reader (needs the extra ``train``):
  examples        examples from public question sets and from questions written for this project
  model           the cross-encoder: all-MiniLM-L6-v2 with heads for sentences and answerability
  train           one run: ``python -m training.train``
  export          weights as 8-bit integers: ``python -m training.export``
  onnx_graphs     the ONNX files of the reader and of the encoders: ``python -m training.onnx_graphs``

What it and the relevance models are judged by (needs what tests need):
  corpora         the documents that relevance is fitted on, from clones of their repositories
  fit_relevance   coefficients of ``answering/relevance/relevance_model.json``
  transfer_relevance  the same for other encoders, from the default one's
  encoder_study   encoders and pairs of them: retrieval, spread of cosines, time
  support_study   the support score, on sentences that are carried and that are changed (tampering, retellings)
  answers_study   citations of written answers
  model_answers_study  support, on labelled sentences that a real model wrote
  common_stems    ``answering/text/common_stems.txt``
"""
