import { isMap, isPair, isScalar, LineCounter, type Pair, parseDocument, type YAMLMap } from "yaml";
import { Fault } from "#core/fault.ts";

/**
 * Returns the text of a suite with other sets for some benchmarks. The rest stays unchanged, including comments and
 * spaces: only numbers are replaced, or `set: N` is inserted before a benchmark's first key.
 */
export function writeSets(
  text: string,
  moves: readonly { readonly benchmark: string; readonly to: number }[],
): string {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, version: "1.2" });
  const benchmarks: unknown = document.getIn(["compile", "benchmarks"]);
  const edits = moves.map(({ benchmark, to }) => {
    const pair = isMap(benchmarks) ? pairOf(benchmarks, benchmark) : undefined;
    if (pair === undefined)
      throw new Fault(
        "not_found",
        `the suite's file has no benchmark ${benchmark} to write a set to`,
      );
    return editFor(pair, to, (offset) => lines.linePos(offset).col - 1);
  });
  // Applied from the end, so that earlier positions stay valid.
  return edits
    .toSorted((a, b) => b.start - a.start)
    .reduce((now, { start, end, by }) => now.slice(0, start) + by + now.slice(end), text);
}

interface Edit {
  readonly start: number;
  readonly end: number;
  readonly by: string;
}

function editFor({ key, value }: Pair, to: number, columnAt: (offset: number) => number): Edit {
  if (!isMap(value)) {
    // `name:` without a value.
    const end = isScalar(key) ? (key.range?.[1] ?? 0) : 0;
    return { start: end + 1, end: end + 1, by: ` { set: ${to} }` };
  }
  const set = pairOf(value, "set")?.value;
  if (isScalar(set) && set.range) return { start: set.range[0], end: set.range[1], by: String(to) };
  if (value.flow === true) {
    const start = (value.range?.[0] ?? 0) + 1;
    return { start, end: start, by: value.items.length === 0 ? ` set: ${to} ` : ` set: ${to},` };
  }
  const first = value.items[0]?.key;
  const start = isScalar(first) ? (first.range?.[0] ?? 0) : 0;
  return { start, end: start, by: `set: ${to}\n${" ".repeat(columnAt(start))}` };
}

function pairOf(map: YAMLMap, name: string): Pair | undefined {
  return map.items.find(
    (item): item is Pair => isPair(item) && isScalar(item.key) && String(item.key.value) === name,
  );
}
