import { nameFilled } from "./frame-text.ts";
import { type JobShape, withTexts } from "./job-shape.ts";
import { type ParsedJob, parseJob } from "./parse-job.ts";
import { fillSimpleText } from "./simple-holes.ts";

/** Above the longest text that a job may have: a job with such a text is checked completely. */
const longText = 64 * 1024;

/**
 * Fills the texts of a job and returns the job; undefined when that needs the evaluator.
 *
 * `wanted` is the value of its `when`.
 */
export function fillJob(
  name: string,
  job: unknown,
  shape: Extract<JobShape, { kind: "texts" }>,
  context: Readonly<Record<string, unknown>>,
  wanted: boolean,
): { readonly parsed: ParsedJob; readonly length: number } | undefined {
  const texts: string[] = [];
  let length = 0;
  for (const { text } of shape.texts) {
    const filled = fillSimpleText(text, context);
    if (filled === undefined) return undefined;
    texts.push(filled);
    length += filled.length;
  }
  if (shape.frame !== undefined && texts.every((text) => text.length < longText)) {
    const definition = withTexts(shape.frame.definition, shape.texts, texts);
    nameFilled(definition, shape.frame.text, texts);
    return { parsed: { definition, wanted }, length };
  }
  const filled = structuredClone(job);
  shape.texts.forEach(({ path }, i) => {
    put(filled, path, texts[i] ?? "");
  });
  const parsed = parseJob(name, shape.when === undefined ? filled : withWhen(filled, wanted));
  return { parsed, length };
}

function put(job: unknown, path: readonly (string | number)[], text: string): void {
  const last = path.at(-1);
  let part = job as Record<string | number, unknown>;
  for (const key of path.slice(0, -1)) part = part[key] as Record<string | number, unknown>;
  if (last !== undefined) part[last] = text;
}

function withWhen(job: unknown, wanted: boolean): unknown {
  return typeof job === "object" ? { ...job, when: wanted } : job;
}
