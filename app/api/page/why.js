// Why a question was not answered: the steps it went through, and what the one that decided saw.
import { el, plural } from "./dom.js";

const percent = (share) => `${Math.round(share * 100)} %`;

/** The steps that ran, closed until they are asked for; null where the service did not say which. */
export function why({ closest = [], metadata }) {
  const ran = metadata.stageTimingsMs ?? {};
  const steps = STEPS.filter(({ node }) => node in ran);
  if (!steps.length) return null;
  const decided = steps.find(({ node }) => node === deciding(metadata, ran));
  const items = steps.map((step) => {
    const last = step === decided;
    const words = last ? step.failed(metadata, closest) : step.passed(metadata);
    return el("li", { class: last ? "decided" : null, "aria-current": last ? "step" : null },
      el("strong", {}, step.name), " ", ...words);
  });
  return el("details", { class: "why" }, el("summary", {}, "Why was this not answered?"),
    el("ol", {}, ...items.slice(0, steps.indexOf(decided) + 1)));
}

function deciding({ outcome, chunksRetrieved }, ran) {
  if (!chunksRetrieved) return "retrieve";
  if (outcome === "no_relevant_chunks") return "grade";
  return ["extract", "cite", "synthesize"].find((node) => node in ran);
}

const removed = ({ unsupported }) => unsupported.length
  ? [`took out ${plural(unsupported.length, "sentence")} that no passage supports:`, el("ul", {}, ...unsupported.map((sentence) => el("li", {}, sentence)))]
  : ["found no sentence that the passages surely support."];

const STEPS = [
  {
    node: "retrieve",
    name: "Searching",
    passed: ({ chunksRetrieved }) => [`found ${plural(chunksRetrieved, "passage")}.`],
    failed: () => ["found no passage in what was searched."],
  },
  {
    node: "grade",
    name: "Judging relevance",
    passed: () => ["found passages about the question."],
    failed: (_, [nearest]) => ["found none of them surely about the question",
      typeof nearest?.relevance === "number" ? `; the nearest scores ${nearest.relevance.toFixed(2)} of 1.` : "."],
  },
  {
    node: "synthesize",
    name: "Writing",
    passed: ({ stageTimingsMs }) => ["cite" in stageTimingsMs ? "gave an answer." : "gave no answer from the passages."],
    failed: ({ confidence }) => [`found no sentence that surely answers; the best reaches ${percent(confidence)}.`],
  },
  { node: "cite", name: "Verifying", passed: removed, failed: removed },
  {
    node: "extract",
    name: "Asking the passages themselves",
    failed: () => ["found no sentence of theirs that surely answers."],
  },
];
