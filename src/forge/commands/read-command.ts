import { mostRuns } from "#api/benchmark-request.ts";
import { maxSelectionLength, parseSelection } from "#api/selection/parse-selection.ts";
import { SelectionProblem } from "#api/selection/selection-problem.ts";
import { SuiteWord } from "#core/test-case.ts";
import { authoredLines } from "./authored-lines.ts";
import { type BenchChoice, type Command, commandKinds } from "./command.ts";

/** The command in a line; `problem` is a sentence that quotes the author's words. */
type Reading =
  | { readonly kind: "command"; readonly command: Command }
  | { readonly kind: "wrong"; readonly problem: string };

/** The default name of the farm in comments. */
export const defaultName = "grange";

/** Long enough for a page of job names; longer commands are not realistic. */
const longestLine = maxSelectionLength + 100;
const lists = { backends: 50, profiles: 50, targets: 50, benchmarks: 500 } as const;

/**
 * Returns the line of a comment that contains a command; undefined without one. Further command lines are returned with
 * it, one per line, for the answer that a comment may contain only one command.
 */
export function findCommand(body: string, name = defaultName): string | undefined {
  const address = new RegExp(`^ {0,3}@${escaped(name)}(?=[ \\t]+[A-Za-z]|[ \\t]*$)`, "i");
  const asking = authoredLines(body).filter((line) => address.test(line));
  if (asking.length === 0) return undefined;
  return asking
    .slice(0, 2)
    .map((line) => line.trim().slice(0, longestLine + 1))
    .join("\n");
}

/** Parses the result of `findCommand`. It returns a result for any text. */
export function readCommand(line: string): Reading {
  if (line.includes("\n")) return wrong("a comment has one command; write one comment for each");
  if (line.length > longestLine) {
    return wrong(`the line has more than ${longestLine} characters; split the command`);
  }
  const [, word = "", rest = ""] = /^@\S+[ \t]*(\S*)[ \t]*([^]*)$/.exec(line) ?? [];
  const kind = commandKinds.find((known) => known === word.toLowerCase());
  switch (kind) {
    case "bench":
      return readBench(words(rest));
    case "build":
      return readBuild(words(rest));
    case "retrigger":
      return readRetrigger(rest.trim());
    case "approve":
      return readApprove(words(rest));
    case "cancel":
    case "help": {
      const [more] = words(rest);
      return more === undefined
        ? { kind: "command", command: { kind } }
        : wrong(`${kind} has no arguments, but ${quoted(more)} follows it`);
    }
    case undefined:
      return wrong(
        `${word === "" ? "no command follows the name" : `${quoted(word)} is not a command`}; the commands are ${commandKinds.join(", ")}`,
      );
  }
}

function readBench(given: readonly string[]): Reading {
  const isToWait = given[0]?.toLowerCase() === "queue";
  const choice = readChoice(isToWait ? given.slice(1) : given);
  return typeof choice === "string"
    ? wrong(choice)
    : { kind: "command", command: { kind: "bench", isToWait, choice } };
}

function readBuild([first, ...given]: readonly string[]): Reading {
  const sha = first === undefined ? undefined : shaOf(first);
  if (sha === undefined) {
    return wrong(
      first === undefined
        ? "build needs a commit: 7 to 40 hex digits, or its URL"
        : `${quoted(first)} is not a commit: build needs 7 to 40 hex digits, or a commit's URL`,
    );
  }
  const choice = readChoice(given);
  return typeof choice === "string"
    ? wrong(choice)
    : { kind: "command", command: { kind: "build", sha, choice } };
}

function readApprove([first, another]: readonly string[]): Reading {
  if (first === undefined) return { kind: "command", command: { kind: "approve", sha: undefined } };
  const sha = shaOf(first);
  if (sha === undefined) return wrong(`${quoted(first)} is not a commit: 7 to 40 hex digits`);
  return another === undefined
    ? { kind: "command", command: { kind: "approve", sha } }
    : wrong(`approve takes one commit, and ${quoted(another)} follows it`);
}

function readRetrigger(text: string): Reading {
  const selection = text === "" ? "state:failed" : text;
  try {
    parseSelection(selection);
    return { kind: "command", command: { kind: "retrigger", selection } };
  } catch (reason) {
    if (reason instanceof SelectionProblem) return wrong(reason.message);
    throw reason;
  }
}

/** Returns a text that describes the problem, if there is one. */
function readChoice(given: readonly string[]): BenchChoice | string {
  const choice = {
    backends: [] as string[],
    profiles: [] as string[],
    targets: [] as string[],
    benchmarks: [] as string[],
    runs: undefined as number | undefined,
  };
  const seen = new Set<string>();
  for (const part of given) {
    const at = part.indexOf("=");
    const key = (at === -1 ? part : part.slice(0, at)).toLowerCase();
    const value = at === -1 ? "" : part.slice(at + 1);
    const known = [...Object.keys(lists), "runs"];
    if (at === -1 || !known.includes(key)) {
      return `${quoted(part)} is none of ${known.map((each) => `${each}=…`).join(", ")}, without spaces round the =`;
    }
    if (seen.has(key)) return `${key}= occurs twice`;
    seen.add(key);
    if (value === "") continue;
    if (key === "runs") {
      const runs = /^\d{1,6}$/.test(value) ? Number(value) : Number.NaN;
      if (!(runs >= 1 && runs <= mostRuns)) {
        return `runs= is a number from 1 to ${mostRuns}, not ${quoted(value)}`;
      }
      choice.runs = runs;
      continue;
    }
    const list = key as keyof typeof lists;
    const names = [...new Set(value.split(",").filter((name) => name !== ""))];
    if (names.length > lists[list]) return `${list}= has more than ${lists[list]} names`;
    const strange = names.find((name) => !SuiteWord.safeParse(name).success);
    if (strange !== undefined) return `${quoted(strange)} cannot be a name of ${list}`;
    choice[list] = names;
  }
  return choice;
}

/** A commit's id, alone or at the end of its address. */
function shaOf(word: string): string | undefined {
  const [, sha] = /^(?:https?:\/\/[^\s?#]{1,300}\/commits?\/)?([0-9a-f]{7,40})$/i.exec(word) ?? [];
  return sha?.toLowerCase();
}

function words(text: string): string[] {
  return text.split(/[ \t]+/).filter((word) => word !== "");
}

function wrong(problem: string): Reading {
  return { kind: "wrong", problem };
}

/** Truncates a word for a sentence. */
function quoted(word: string): string {
  return `"${word.length > 80 ? `${word.slice(0, 79)}…` : word}"`;
}

function escaped(name: string): string {
  return name.replaceAll(/[^A-Za-z0-9]/g, "\\$&");
}
