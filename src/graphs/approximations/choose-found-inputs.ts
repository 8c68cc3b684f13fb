import { Fault, messageOf } from "#core/fault.ts";
import { compileGlobs } from "#git/glob.ts";
import { selectInputs } from "../select-inputs.ts";
import type { InputList } from "./read-input-list.ts";

interface HasPath {
  readonly path: string;
}

/** The files that a job always reads, and those that may be found for it. */
export interface FoundInputsRules {
  readonly inputs?: readonly string[] | undefined;
  readonly mayRead: readonly string[];
}

/** Returns the files of a commit that a job always reads; none if its definition names none. */
export function alwaysRead<Entry extends HasPath>(
  entries: readonly Entry[],
  { inputs = [] }: FoundInputsRules,
): readonly Entry[] {
  return selectInputs(entries, inputs);
}

/** Returns the files of a commit that may be found for a job. */
export function mayBeFound<Entry extends HasPath>(
  entries: readonly Entry[],
  { mayRead }: FoundInputsRules,
): readonly Entry[] {
  const isMeant = compileGlobs(mayRead);
  return entries.filter(({ path }) => isMeant(path));
}

/**
 * Returns the files of a commit that a job reads, after another job has found them.
 *
 * They follow from the list and the files that may be found, and from nothing else of the commit. A name in the list
 * that matches none of them is a mistake of the finder: throws `failed_precondition`.
 */
export function chooseFoundInputs<Entry extends HasPath>(
  entries: readonly Entry[],
  rules: FoundInputsRules,
  list: InputList,
  from: string,
): readonly Entry[] {
  const within = mayBeFound(entries, rules);
  const means = compiled(list, within, from);
  const chosen = new Set(within.filter(({ path }) => means.isMeant(path)));
  const idle = list.names.find((name) => !means.used.has(name));
  if (idle !== undefined) throw strayed(entries, rules, idle, from);
  for (const entry of alwaysRead(entries, rules)) chosen.add(entry);
  return entries.filter((entry) => chosen.has(entry));
}

interface Meaning {
  isMeant(path: string): boolean;
  /** The names in the list that matched something. */
  readonly used: ReadonlySet<string>;
}

/**
 * The list and the files may be some 100,000 each, so each file looks up its own path and its
 * directories.
 */
function compiled(list: InputList, within: readonly HasPath[], from: string): Meaning {
  const names = new Set(list.names);
  // A file name may look like a pattern; an exact match comes first.
  const paths = new Set(within.map(({ path }) => path));
  const patterns = list.patterns.filter((pattern) => !paths.has(pattern));
  const literal = new Set(list.patterns.filter((pattern) => paths.has(pattern)));
  const fits = patterns.length === 0 ? () => false : compiledPatterns(patterns, from);
  const used = new Set<string>();
  return {
    used,
    isMeant(path) {
      let isNamed = literal.has(path);
      for (let end = path.length; end > 0; end = path.lastIndexOf("/", end - 1)) {
        const name = path.slice(0, end);
        if (!names.has(name)) continue;
        used.add(name);
        isNamed = true;
      }
      return isNamed || fits(path);
    },
  };
}

function compiledPatterns(patterns: readonly string[], from: string): (path: string) => boolean {
  try {
    return compileGlobs(patterns);
  } catch (reason) {
    throw new Fault("failed_precondition", `${from}: ${messageOf(reason)}`);
  }
}

function strayed(
  entries: readonly HasPath[],
  { mayRead }: FoundInputsRules,
  name: string,
  from: string,
): Fault {
  const isThere = entries.some(({ path }) => path === name || path.startsWith(`${name}/`));
  const why = isThere
    ? `which is outside of the allowed files (may-read: ${mayRead.join(", ")})`
    : "which is not in the commit";
  return new Fault("failed_precondition", `${from} names "${name}", ${why}`);
}
