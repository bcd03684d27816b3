// Server-sent events out of a fetch body, as the HTML standard has them: "event" and "data" fields, a blank line ends.

/** Yield `{name, data}` for each event, `data` parsed as JSON. */
export async function* events(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let held = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      held += value;
      const blocks = held.split(/\r\n\r\n|\n\n|\r\r/);
      held = blocks.pop();
      for (const block of blocks) {
        const event = parsed(block);
        if (event) yield event;
      }
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

function parsed(block) {
  let name = "message";
  const data = [];
  for (const line of block.split(/\r\n|\n|\r/)) {
    const at = line.indexOf(":");
    if (at === 0) continue; // a comment, which keeps the connection open
    const field = at < 0 ? line : line.slice(0, at);
    const value = at < 0 ? "" : line.slice(at + 1).replace(/^ /, "");
    if (field === "event") name = value;
    else if (field === "data") data.push(value);
  }
  return data.length ? { name, data: JSON.parse(data.join("\n")) } : null;
}
