import { type FrameText, frameText, markOf } from "./frame-text.ts";
import type { JobDefinition } from "./job-definition.ts";
import { JobName } from "./job-name.ts";
import { type ParsedJob, parseJob } from "./parse-job.ts";
import { readSimpleText, type SimpleText } from "./simple-holes.ts";
import type { JobTemplate } from "./templates.ts";

/** The kinds of placeholders in a job. */
export type JobShape =
  /** No placeholders. */
  | { readonly kind: "plain"; readonly parsed: ParsedJob }
  /** Placeholders with only names in texts, and a condition `when`. */
  | {
      readonly kind: "texts";
      readonly texts: readonly TextPlace[];
      /** An expression. */
      readonly when: string | undefined;
      /** The frame of the filled job, when its texts may have any value: it then needs no second check. */
      readonly frame: Frame | undefined;
    }
  /** Other constructs and expressions. */
  | { readonly kind: "construct" };

/** A job that was checked with unfilled placeholders in its texts. */
interface Frame {
  readonly definition: JobDefinition;
  readonly text: FrameText;
}

/** A text with placeholders, and its path in the job. */
interface TextPlace {
  readonly path: readonly (string | number)[];
  readonly text: SimpleText;
}

const shapes = new WeakMap<object, { readonly name: string; readonly shape: JobShape }>();
const equalBodies = new WeakMap<object, object>();

/** Lets a job use the shape of another one with the same content: a matrix has thousands of jobs that only names tell apart. */
export function shareShape(job: object, other: object): void {
  if (job !== other) equalBodies.set(job, equalBodies.get(other) ?? other);
}

/** Returns the shape of a job as it was written. A catalog is planned many times; its shapes are computed once. */
export function shapeOf({ name, job }: JobTemplate): JobShape {
  if (typeof job !== "object" || job === null) return look(name, job);
  const body = equalBodies.get(job) ?? job;
  const known = shapes.get(body);
  if (known !== undefined && (known.name === name || isForEachName(known.shape, name)))
    return known.shape;
  const shape = look(name, body);
  shapes.set(body, { name, shape });
  return shape;
}

/** Messages contain the name of their job, and a name with a placeholder is filled by the evaluator. */
function isForEachName(shape: JobShape, name: string): boolean {
  const isChecked =
    (shape.kind === "plain" && "definition" in shape.parsed) ||
    (shape.kind === "texts" && shape.frame !== undefined);
  return isChecked && JobName.safeParse(name).success;
}

function look(name: string, job: unknown): JobShape {
  const texts: TextPlace[] = [];
  if (name.includes("$") || !collect(job, [], texts)) return { kind: "construct" };
  const when = whenOf(job);
  if (texts.length === 0 && when === undefined)
    return { kind: "plain", parsed: parseJob(name, job) };
  const parsed = texts.every(({ path }) => isFree(path)) ? parseJob(name, job) : undefined;
  const definition = parsed !== undefined && "definition" in parsed ? parsed.definition : undefined;
  if (definition === undefined) return { kind: "texts", texts, when, frame: undefined };
  const marks = texts.map((_, i) => markOf(i));
  const frame = { definition, text: frameText(withTexts(definition, texts, marks)) };
  return { kind: "texts", texts, when, frame };
}

/** Returns a checked job with other texts in some places. A single command is already a list. */
export function withTexts(
  definition: JobDefinition,
  places: readonly TextPlace[],
  texts: readonly string[],
): JobDefinition {
  const filled: Record<string, unknown> = { ...definition };
  const copied = new Set<string>();
  places.forEach(({ path: [key, inner] }, i) => {
    const top = String(key);
    const whole = filled[top];
    if (typeof whole !== "object" || whole === null) {
      filled[top] = texts[i];
      return;
    }
    if (!copied.has(top)) filled[top] = Array.isArray(whole) ? [...whole] : { ...whole };
    copied.add(top);
    (filled[top] as Record<string | number, unknown>)[inner ?? 0] = texts[i];
  });
  return filled as JobDefinition;
}

/** Finds all texts with placeholders; false when the job also has other constructs. */
function collect(value: unknown, path: readonly (string | number)[], texts: TextPlace[]): boolean {
  if (typeof value === "string") {
    if (!value.includes("${")) return true;
    const text = readSimpleText(value);
    if (text === undefined) return false;
    texts.push({ path, text });
    return true;
  }
  if (typeof value !== "object" || value === null) return true;
  if (Array.isArray(value)) return value.every((item, i) => collect(item, [...path, i], texts));
  return Object.entries(value).every(
    ([key, part]) =>
      !key.includes("$") &&
      // `when` is evaluated separately, because it is itself an expression.
      ((path.length === 0 && key === "when" && typeof part === "string" && !part.includes("$")) ||
        collect(part, [...path, key], texts)),
  );
}

function whenOf(job: unknown): string | undefined {
  if (typeof job !== "object" || job === null || !("when" in job)) return undefined;
  return typeof job.when === "string" ? job.when : undefined;
}

/** Returns whether any text of allowed length is valid at a place. */
function isFree([key, ...inner]: readonly (string | number)[]): boolean {
  if (key === "description") return true;
  if (key === "commands") return inner.length <= 1;
  return (key === "environment" || key === "tags" || key === "platform") && inner.length === 1;
}
