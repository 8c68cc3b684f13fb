import {
  isAlias,
  isMap,
  isNode,
  isPair,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  visit,
} from "yaml";
import { parseBoundedYaml } from "#core/bounded-yaml.ts";
import { messageOf } from "#core/fault.ts";
import { suiteLimits } from "./suite-limits.ts";
import { type Finding, type SuiteProblem, SuiteProblems } from "./suite-problems.ts";

export interface SuiteText {
  readonly value: unknown;
  /** Returns the position of a finding's part, or of the nearest part around it. */
  readonly place: (finding: Finding) => { readonly line: number; readonly column: number };
}

/**
 * Reads untrusted YAML.
 *
 * Anchors and aliases are refused: a suite does not need them, and with them a page of text can expand beyond the
 * available memory.
 */
export function readSuiteText(where: string, text: string): SuiteText {
  if (Buffer.byteLength(text) > suiteLimits.bytes)
    throw refused(where, `is larger than ${suiteLimits.bytes / 1024} KiB`);
  const lines = new LineCounter();
  const at = (offset: number) => {
    const { line, col } = lines.linePos(offset);
    return { line, column: col };
  };
  try {
    const document = parseBoundedYaml(text, 2 * suiteLimits.depth, {
      lineCounter: lines,
      version: "1.2",
      prettyErrors: false,
      uniqueKeys: false,
    });
    const problems: SuiteProblem[] = document.errors.map((error) => ({
      path: [],
      of: "value",
      message: /call stack/.test(error.message) ? tooDeep : `not valid YAML: ${error.message}`,
      ...at(error.pos[0]),
    }));
    if (problems.length === 0)
      for (const { node, message } of refusedParts(document.contents))
        problems.push({ path: [], of: "value", message, ...at(node.range?.[0] ?? 0) });
    if (problems.length > 0) throw new SuiteProblems(where, problems);
    return {
      value: document.toJS({ maxAliasCount: 0 }),
      place: ({ path, of }) => at(offsetOf(document.contents, path, of)),
    };
  } catch (reason) {
    if (reason instanceof SuiteProblems) throw reason;
    // The parser is recursive.
    throw refused(
      where,
      reason instanceof RangeError ? tooDeep : `cannot be read: ${messageOf(reason)}`,
    );
  }
}

const tooDeep = `maps and lists are nested more than ${suiteLimits.depth} levels deep`;

function refused(where: string, message: string): SuiteProblems {
  return new SuiteProblems(where, [{ path: [], of: "value", message, line: null, column: null }]);
}

/** Returns the parts that YAML allows but suites do not. */
function refusedParts(contents: unknown): { readonly node: Node; readonly message: string }[] {
  const found: { node: Node; message: string }[] = [];
  // The parser's own check compares each key with all others.
  const keysOf = new Map<unknown, Set<string>>();
  visit(contents as Node, {
    Node(_, node, ancestors) {
      const anchored = !isAlias(node) && "anchor" in node && node.anchor !== undefined;
      if (isAlias(node) || anchored) {
        found.push({ node, message: "has an anchor or an alias (& or *); write it out" });
      } else if (ancestors.length > 2 * suiteLimits.depth) {
        // A pair is an ancestor too: two levels for each map.
        found.push({ node, message: tooDeep });
      } else return undefined;
      return visit.BREAK;
    },
    Pair(_, { key }, ancestors) {
      const siblings = keysOf.get(ancestors.at(-1)) ?? new Set();
      keysOf.set(ancestors.at(-1), siblings);
      if (!isScalar(key)) {
        if (isNode(key)) found.push({ node: key, message: "a key must be a plain text" });
        return undefined;
      }
      const name = String(key.value);
      if (name === "__proto__" || name === "<<")
        found.push({ node: key, message: `"${name}" cannot be a key` });
      if (siblings.has(name))
        found.push({ node: key, message: `the key "${name}" occurs twice here; keep one` });
      siblings.add(name);
      return undefined;
    },
  });
  return found;
}

function offsetOf(contents: unknown, path: readonly PropertyKey[], of: "key" | "value"): number {
  let node = contents;
  let [offset, key] = [rangeStart(node), rangeStart(node)];
  for (const part of path) {
    const item = isMap(node)
      ? node.items.find((pair) => isScalar(pair.key) && String(pair.key.value) === String(part))
      : isSeq(node)
        ? node.items[Number(part)]
        : undefined;
    if (item === undefined) return key;
    node = isPair(item) ? item.value : item;
    key = isPair(item) ? rangeStart(item.key) : rangeStart(node);
    offset = isNode(node) ? rangeStart(node) : key;
  }
  return of === "key" ? key : offset;
}

function rangeStart(node: unknown): number {
  return isNode(node) ? (node.range?.[0] ?? 0) : 0;
}
