import { fitsStars } from "#core/star-pattern.ts";
import type { Selection, WordPattern } from "./selection.ts";

/** The properties of a job that a selection can test. */
export interface SelectableJob {
  readonly name: string;
  readonly tags: Readonly<Record<string, string>>;
  /** The kind of the job: `command`, `join` … */
  readonly kind: string;
  /** Empty for a job in definitions, which has no state yet. */
  readonly state: string;
}

/** Returns whether a job matches a selection. */
export function matches(selection: Selection, job: SelectableJob): boolean {
  switch (selection.op) {
    case "and":
      return selection.parts.every((part) => matches(part, job));
    case "or":
      return selection.parts.some((part) => matches(part, job));
    case "not":
      return !matches(selection.part, job);
    case "word":
      return matchesWord(selection.pattern, job);
    case "key": {
      const value = valueOf(selection.key, job);
      return value !== undefined && fitsStars(selection.pattern, value);
    }
  }
}

function matchesWord(pattern: WordPattern, { name, tags }: SelectableJob): boolean {
  if (fitsStars(pattern, name)) return true;
  return Object.entries(tags).some(
    ([key, value]) => fitsStars(pattern, value) || (value === "true" && fitsStars(pattern, key)),
  );
}

/** Users tag jobs with their own kinds (`kind: b2g`), which are more specific than the farm's. */
function valueOf(key: string, { name, tags, kind, state }: SelectableJob): string | undefined {
  const tag = Object.hasOwn(tags, key) ? tags[key] : undefined;
  switch (key) {
    case "name":
      return name;
    case "state":
      return state;
    case "kind":
      return tag ?? kind;
    default:
      return tag;
  }
}
