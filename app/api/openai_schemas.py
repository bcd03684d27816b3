"""Wire objects of OpenAI's API, as far as they are read or written here; names are those of that wire."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, Field, StrictBool, StrictInt, StrictStr

from app.api.schemas import QueryRequest, QueryResponse
from graph.errors import InvalidInput
from graph.policy import MAX_TOKENS

MODEL = "knowledge-garden"
"""The one model there is."""
QUESTION = QueryRequest.model_fields


class Part(BaseModel):
    """A piece of a message; only those with ``text`` are read."""

    type: str = Field(examples=["text"])
    text: str | None = None


def as_parts(content: Any) -> Any:
    """Return a plain text as the one piece of a message; anything else as it is, to be checked."""
    return [Part(type="text", text=content)] if isinstance(content, str) else content


Content = Annotated[list[Part] | None, BeforeValidator(as_parts, json_schema_input_type=str | list[Part] | None)]
"""What a message says. One type, since an error of a union names each, and not the member that is wrong."""


class Message(BaseModel):
    """One message of the conversation."""

    role: str = Field(examples=["user"])
    content: Content = Field(None, examples=["What is Knowledge Garden?"])

    @property
    def text(self) -> str:
        """The message's text."""
        return "\n".join(part.text for part in self.content or [] if part.text)


class StreamOptions(BaseModel):
    """What a stream holds beside the answer."""

    include_usage: StrictBool | None = None


class Options(BaseModel):
    """What only this service has: a switch, and fields of ``POST /query``."""

    sourceList: StrictBool | None = Field(
        None, description="list the cited documents below the answer; default: true", examples=[True]
    )
    maxSources: Any = QUESTION["maxSources"]
    source: Any = QUESTION["source"]
    filters: Any = QUESTION["filters"]
    collection: Any = QUESTION["collection"]


class ChatRequest(BaseModel):
    """A chat as OpenAI's clients send it. Other members (``temperature``, ``tools``) are ignored."""

    model: StrictStr = Field(examples=[MODEL])
    messages: list[Message] = Field(min_length=1)
    stream: StrictBool | None = Field(None, examples=[False])
    stream_options: StreamOptions | None = None
    max_tokens: StrictInt | None = Field(None, ge=1, description="longest answer", examples=[500])
    max_completion_tokens: StrictInt | None = Field(None, ge=1, description="the same; comes first", examples=[500])
    knowledge_garden: Options | None = Field(None, description="what only this service has")

    @property
    def collection(self) -> str | None:
        """The collection that is named, if any."""
        return self.knowledge_garden.collection if self.knowledge_garden else None

    def fields(self) -> dict[str, Any]:
        """Return the fields of the question. Raises ``InvalidInput`` where no message is of a user."""
        asked = [message for message in self.messages if message.role == "user"]
        if not asked:
            raise InvalidInput("messages must hold one with the role user.", "messages")
        if any(part.type != "text" for part in asked[-1].content or []):
            raise InvalidInput("Only text can be asked.", "messages")
        options = self.knowledge_garden.model_dump() if self.knowledge_garden else {}
        longest = self.max_completion_tokens or self.max_tokens
        return {
            "query": asked[-1].text,
            "earlierQuestions": [message.text for message in asked[:-1]],
            **options,
            "maxTokens": min(longest, MAX_TOKENS) if longest else None,
        }


class UrlCitation(BaseModel):
    """A cited document; ``content[start_index:end_index]`` is the marker that cites it, in code points."""

    url: str
    title: str
    start_index: int
    end_index: int


class Annotation(BaseModel):
    """One marker of ``content``."""

    type: Literal["url_citation"] = "url_citation"
    url_citation: UrlCitation


class AnswerMessage(BaseModel):
    """The answer, or a plain sentence that there is none."""

    role: Literal["assistant"] = "assistant"
    content: str
    refusal: None = None
    annotations: list[Annotation]


class Choice(BaseModel):
    """The one choice."""

    index: int = 0
    message: AnswerMessage
    finish_reason: Literal["stop"] = "stop"
    logprobs: None = None


class Usage(BaseModel):
    """Tokens of the messages and of the answer, estimated: nothing is billed by them."""

    prompt_tokens: int
    completion_tokens: int
    total_tokens: int


class ChatCompletion(BaseModel):
    """The answer as OpenAI's clients read it; ``knowledge_garden`` is the body of ``POST /query`` with evidence."""

    id: str
    object: Literal["chat.completion"] = "chat.completion"
    created: int
    model: str = MODEL
    choices: list[Choice]
    usage: Usage
    knowledge_garden: QueryResponse


class ErrorFields(BaseModel):
    """What OpenAI's clients read of an error; ``code`` is that of every other path."""

    message: str
    type: str
    code: str = Field(examples=["VALIDATION_ERROR"])
    param: str | None = None


class OpenAIErrorBody(BaseModel):
    """The one error body, but that ``error`` is an object."""

    error: ErrorFields
    message: str
    details: dict[str, Any]


class Model(BaseModel):
    """What answers: this service."""

    id: str = MODEL
    object: Literal["model"] = "model"
    created: int
    owned_by: str = MODEL


class ModelList(BaseModel):
    """The models there are."""

    object: Literal["list"] = "list"
    data: list[Model]
