"""The query pipeline, as Hayhooks loads it."""

import os
from collections.abc import AsyncGenerator

import torch
from hayhooks import BasePipelineWrapper, async_streaming_generator, get_last_user_message
from haystack import Pipeline
from haystack.components.builders import ChatPromptBuilder
from haystack.dataclasses import ChatMessage
from haystack_integrations.components.embedders.sentence_transformers import SentenceTransformersTextEmbedder
from haystack_integrations.components.generators.ollama import OllamaChatGenerator
from haystack_integrations.components.retrievers.qdrant import QdrantEmbeddingRetriever
from haystack_integrations.document_stores.qdrant import QdrantDocumentStore

TEMPLATE = """Given the following information, answer the question.

Context:
{% for document in documents %}
    {{ document.content }}
{% endfor %}

Question: {{question}}
Answer:"""


class PipelineWrapper(BasePipelineWrapper):
    def setup(self) -> None:
        torch.set_num_threads(1)
        store = QdrantDocumentStore(path=os.environ["BENCH_FOLDER"], index="documents", embedding_dim=384)
        self.pipeline = Pipeline()
        weights = os.environ["BENCH_WEIGHTS"]
        embedder = SentenceTransformersTextEmbedder(model=weights, normalize_embeddings=True, progress_bar=False)
        self.pipeline.add_component("text_embedder", embedder)
        retriever = QdrantEmbeddingRetriever(document_store=store, top_k=int(os.environ["BENCH_TOP_K"]))
        self.pipeline.add_component("retriever", retriever)
        prompt = ChatPromptBuilder(template=[ChatMessage.from_user(TEMPLATE)], required_variables="*")
        self.pipeline.add_component("prompt_builder", prompt)
        self.pipeline.add_component("llm", OllamaChatGenerator(model="llama3.2:1b", url=os.environ["BENCH_MODEL_URL"]))
        self.pipeline.connect("text_embedder.embedding", "retriever.query_embedding")
        self.pipeline.connect("retriever", "prompt_builder.documents")
        self.pipeline.connect("prompt_builder.prompt", "llm.messages")

    async def run_api_async(self, question: str) -> str:
        inputs = {"text_embedder": {"text": question}, "prompt_builder": {"question": question}}
        result = await self.pipeline.run_async(inputs)
        return result["llm"]["replies"][0].text

    async def run_chat_completion_async(
        self, model: str, messages: list[dict], body: dict
    ) -> AsyncGenerator[str, None]:
        question = get_last_user_message(messages)
        inputs = {"text_embedder": {"text": question}, "prompt_builder": {"question": question}}
        return async_streaming_generator(pipeline=self.pipeline, pipeline_run_args=inputs)
