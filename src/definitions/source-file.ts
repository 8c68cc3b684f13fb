import { isAlias, isCollection, isMap, isScalar, isSeq, LineCounter, type Node, visit } from "yaml";
import { parseBoundedYaml } from "#core/bounded-yaml.ts";
import { messageOf } from "#core/fault.ts";
import { definitionLimits } from "./definition-limits.ts";
import type { DefinitionProblem } from "./definition-problems.ts";
import { offsetsOfEntries, type Place, placeOf } from "./place-in-source.ts";
import { lineBeyondPlain, readPlainYaml } from "./read-plain-yaml.ts";

/** A file of definitions: its value and the place of each part. */
export interface SourceFile {
  readonly file: string;
  readonly value: unknown;
  /** In characters. */
  readonly length: number;
  /** Returns the place of the part at `path`, or else of the nearest part around it. */
  place(path: readonly PropertyKey[], of?: "key" | "value"): Place;
  /** Returns the line in which the entry of `jobs` with this name begins, or the whole map. Fast. */
  lineOfJob(name: string | undefined): number;
}

/** The remaining amount of text that the full YAML parser may read for one catalog. */
interface WholeYamlBudget {
  bytes: number;
}

/** Reads untrusted YAML. The cost of the whole language is taken from `budget`. */
export function readSourceFile(
  file: string,
  text: string,
  budget: WholeYamlBudget = { bytes: definitionLimits.allWholeYamlBytes },
): SourceFile | DefinitionProblem[] {
  if (Buffer.byteLength(text) > definitionLimits.fileBytes) {
    return [
      {
        file,
        line: null,
        column: null,
        message: "is larger than 1 MiB; split it into several files",
      },
    ];
  }
  const plain = readPlainYaml(text);
  if (plain === undefined) {
    const refusal = refusalOfWholeYaml(text.length, budget);
    if (refusal !== undefined)
      return [{ file, line: lineBeyondPlain(text), column: 1, message: refusal }];
    return readWholly(file, text);
  }
  let whole: SourceFile | DefinitionProblem[] | undefined;
  let lines: ReadonlyMap<string, number> | undefined;
  // Places are only needed for problems, which are rare.
  const place: SourceFile["place"] = (path, of) => {
    // The full parser would take too long to find the exact place, so the place of the job's entry is returned.
    if (text.length > definitionLimits.wholeYamlFileBytes) {
      lines ??= linesAt(text, plain.offsets);
      const job = path[0] === "jobs" ? lines.get(String(path[1])) : undefined;
      return { line: job ?? 1, column: 1 };
    }
    whole ??= readWholly(file, text);
    return Array.isArray(whole) ? { line: 1, column: 1 } : whole.place(path, of);
  };
  return {
    file,
    value: plain.value,
    length: text.length,
    place,
    lineOfJob(name) {
      lines ??= linesAt(text, plain.offsets);
      // For a map in one line, the place of the map is returned.
      return lines.get(name ?? "") ?? place(["jobs"], "key").line;
    },
  };
}

const beyondPlain =
  "anchors, tags, folded texts, tabs, emoji, and texts or flow collections over several lines";

/** Returns why a text is not read by the parser of the whole language; takes it from the budget otherwise. */
function refusalOfWholeYaml(length: number, budget: WholeYamlBudget): string | undefined {
  if (length > definitionLimits.wholeYamlFileBytes)
    return `is not plain YAML: it has an error here, or uses one of ${beyondPlain}, which only files of at most 64 KiB may use; split the file, or do not use them`;
  budget.bytes -= length;
  return budget.bytes < 0
    ? `uses one of ${beyondPlain}, and all files that use them have more than 2 MiB together; do not use them here`
    : undefined;
}

/** Finds the lines of offsets, which must be in rising order, in one pass over the text. */
function linesAt(text: string, offsets: ReadonlyMap<string, number>): Map<string, number> {
  const lines = new Map<string, number>();
  let line = 1;
  let at = 0;
  for (const [name, offset] of offsets) {
    for (let end = text.indexOf("\n", at); end !== -1 && end < offset; ) {
      line += 1;
      at = end + 1;
      end = text.indexOf("\n", at);
    }
    lines.set(name, line);
  }
  return lines;
}

/** The full parser's own limit, so that the message about `definitionLimits.depth` has the place. */
const mostNesting = 2 * definitionLimits.depth;

/**
 * More open brackets than this are not a mistake but an attack. The parser takes about 10 µs for each of them, without
 * a pause, before it reports that they are nested too deeply.
 */
const mostOpenBrackets = 1_000;

/** Also counts brackets in texts and comments, so the result is an upper bound without parsing. */
function opensTooMany(text: string): boolean {
  let open = 0;
  for (let at = 0; at < text.length; at++) {
    const sign = text.charCodeAt(at);
    if (sign === 0x5b || sign === 0x7b) open++;
    else if (sign === 0x5d || sign === 0x7d) open = Math.max(0, open - 1);
    if (open > mostOpenBrackets) return true;
  }
  return false;
}

function readWholly(file: string, text: string): SourceFile | DefinitionProblem[] {
  if (opensTooMany(text)) return [{ file, line: null, column: null, message: tooDeep }];
  const lines = new LineCounter();
  const at = (offset: number): Place => {
    const { line, col } = lines.linePos(offset);
    return { line, column: col };
  };
  try {
    const document = withoutStackTraces(() =>
      parseBoundedYaml(text, mostNesting, {
        lineCounter: lines,
        version: "1.2",
        prettyErrors: false,
        uniqueKeys: false,
      }),
    );
    if (document.errors.length > 0) {
      return document.errors.map((error) => ({
        file,
        ...at(error.pos[0]),
        message: /call stack/.test(error.message)
          ? tooDeep
          : `not valid YAML: ${sentence(error.message)}`,
      }));
    }
    const refused = refusedParts(document.contents).map(({ node, message }) => ({
      file,
      ...at(node.range?.[0] ?? 0),
      message,
    }));
    if (refused.length > 0) return refused;
    const place: SourceFile["place"] = (path, of = "value") => at(placeOf(document, path, of));
    let jobs: ReadonlyMap<string, number> | undefined;
    return {
      file,
      value: document.toJS({ maxAliasCount: definitionLimits.aliases }),
      length: text.length,
      place,
      lineOfJob(name) {
        jobs ??= new Map(
          [...offsetsOfEntries(document, "jobs")].map(([key, offset]) => [key, at(offset).line]),
        );
        return jobs.get(name ?? "") ?? place(["jobs"], "key").line;
      },
    };
  } catch (reason) {
    // The parser is recursive, and it rejects an alias bomb while it creates values.
    const message =
      reason instanceof RangeError ? tooDeep : `cannot be read: ${sentence(messageOf(reason))}`;
    return [{ file, line: null, column: null, message }];
  }
}

/**
 * A hostile text has an error at each character; recording the stack trace of each takes five times as long as parsing.
 */
function withoutStackTraces<T>(work: () => T): T {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  try {
    return work();
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

const tooDeep = `maps and lists are nested more than ${definitionLimits.depth} levels deep`;

interface Refused {
  readonly node: Node;
  readonly message: string;
}

/** Returns the parts that YAML allows and definitions do not. */
function refusedParts(contents: unknown): Refused[] {
  const refused: Refused[] = [];
  // The parser's own check compares each key with all others.
  const keysOf = new Map<unknown, Set<string>>();
  visit(contents as Node, {
    Node(_, node, ancestors) {
      // A pair is an ancestor too: two levels for each map.
      if (ancestors.length > 2 * definitionLimits.depth) {
        refused.push({ node, message: tooDeep });
        return visit.BREAK;
      }
      return undefined;
    },
    Alias(_, alias, ancestors) {
      // Its value would contain itself, and a walk over it would not end.
      const isWithin = ancestors.some((each) => isCollection(each) && each.anchor === alias.source);
      if (isWithin)
        refused.push({
          node: alias,
          message: `the alias *${alias.source} is inside the node that it refers to`,
        });
      return undefined;
    },
    Pair(_, pair, ancestors) {
      const { key } = pair;
      const siblings = keysOf.get(ancestors.at(-1)) ?? new Set();
      keysOf.set(ancestors.at(-1), siblings);
      if (isMap(key) || isSeq(key) || isAlias(key)) {
        refused.push({ node: key, message: "a key must be a plain text" });
      } else if (isScalar(key) && key.value === "__proto__") {
        refused.push({ node: key, message: '"__proto__" cannot be a key' });
      } else if (isScalar(key)) {
        const name = String(key.value);
        if (siblings.has(name))
          refused.push({ node: key, message: `the key "${name}" occurs twice here; keep one` });
        siblings.add(name);
      }
      return undefined;
    },
  });
  return refused;
}

function sentence(message: string): string {
  return message.replace(/\s+/g, " ").trim();
}
