// An ingest over HTTP, with its progress: the bytes sent, then the passages indexed.
import { plural } from "./dom.js";
import { Failed, failedBy, keyHeaders } from "./service.js";

/**
 * Post `file`, or nothing; resolves with the report, rejects with `Failed`. `progress(share, words, begun)`: the share of
 * what is done now, null where it is not known, and whether another stage has begun.
 */
export function ingest(path, file, progress) {
  // XMLHttpRequest, since fetch does not tell how much has been sent.
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    const headers = { ...keyHeaders(), "Content-Type": "application/octet-stream", Accept: "application/x-ndjson" };
    let indexing = false;
    request.open("POST", path);
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
    request.upload.onprogress = ({ loaded, total }) => {
      progress(loaded / total, `sending, ${kilobytes(loaded)} of ${kilobytes(total)} kB`, false);
    };
    request.upload.onload = () => progress(null, "sent; the service reads it", true);
    request.onprogress = () => {
      const { chunks, chunksFound } = parsed(request.responseText.split("\n").at(-2)) ?? {};
      if (!chunksFound) return;
      progress(chunks / chunksFound, `indexing, ${chunks} of ${chunksFound} passages`, !indexing);
      indexing = true;
    };
    request.onerror = () => reject(new Failed("UNREACHABLE", "the server cannot be reached"));
    request.onload = () => {
      const body = parsed(request.responseText.trimEnd().split("\n").at(-1));
      if (request.status === 200 && body && !body.error) resolve(body);
      else reject(failedBy(body, request.getResponseHeader("X-Request-ID"), request.status));
    };
    request.send(file);
  });
}

/** What became of it, in words. */
export function outcome(report) {
  const passages = plural(report.chunks, "passage");
  const what = report.added ? `added, ${passages}` : report.changed ? `replaced, ${passages}` : "already stored, unchanged";
  const left = report.skipped.length ? `; left out: ${report.skipped[0].reason}` : "";
  const notes = [...report.notes.map((one) => one.note), report.note].filter(Boolean).join(" ");
  return `${what}${left}${notes ? `. ${notes}` : ""}`;
}

const kilobytes = (bytes) => Math.ceil(bytes / 1024).toLocaleString("en-GB");

function parsed(line) {
  try {
    return JSON.parse(line);
  } catch {
    return null; // no line yet, or no body of ours
  }
}
