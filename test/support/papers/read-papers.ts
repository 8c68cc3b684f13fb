import { z } from "zod";

/** The four letters at the start of numbers, and their documents in `docs/references.md`. */
export const papers = {
  L: "LWR, part v",
  P: "rustc-perf, two documents",
  S: "Buildbarn ADR 7",
  D: "dune RFC 3452",
} as const;

const Paper = z.enum(["L", "P", "S", "D"]);
export type Paper = z.infer<typeof Paper>;

/** One test that an entry names: a file, and a part of the full names of one test or of one `describe`. */
export interface NamedTest {
  readonly file: string;
  readonly part: string;
}

/** One requirement of a paper. */
export interface Entry {
  readonly paper: Paper;
  readonly number: number;
  /** In the document's form: "L-17". */
  readonly name: string;
  readonly asks: string;
  readonly shownBy:
    | { readonly kind: "tests"; readonly tests: readonly NamedTest[] }
    | { readonly kind: "open"; readonly reason: string };
  /** The code of the last column: commands, endpoints, pages, settings. */
  readonly places: readonly string[];
  /** Whether the last column names a document. */
  readonly hasDocument: boolean;
}

/** One row of the document's table of totals. */
interface Total {
  readonly paper: Paper;
  readonly sentences: number;
  readonly withTests: number;
  readonly open: number;
}

interface Papers {
  readonly entries: readonly Entry[];
  readonly totals: readonly Total[];
  /** Rows of other forms, each with its line: none in a correct document. */
  readonly unread: readonly string[];
}

const numbered = /^(?<paper>[LPSD])-(?<number>\d+)$/;
const total = /^(?<paper>[LPSD]): /;
const namedTest = /^`(?<file>[^`]+\.test\.ts)` "(?<part>[^"]+)"$/;

/** Reads `docs/papers.md`: the tables of sentences, and the table of totals. */
export function readPapers(text: string): Papers {
  const entries: Entry[] = [];
  const totals: Total[] = [];
  const unread: string[] = [];
  for (const [index, line] of text.split("\n").entries()) {
    const cells = cellsOf(line);
    if (cells === undefined) continue;
    const entry = entryOf(cells);
    const sum = totalOf(cells);
    if (entry !== undefined) entries.push(entry);
    else if (sum !== undefined) totals.push(sum);
    else if (/^[LPSD]\b/.test(cells[0] ?? "")) unread.push(`line ${index + 1}: ${line}`);
  }
  return { entries, totals, unread };
}

function cellsOf(line: string): string[] | undefined {
  if (!line.startsWith("| ") || !line.endsWith(" |")) return undefined;
  return line
    .slice(2, -2)
    .split(" | ")
    .map((cell) => cell.trim());
}

function entryOf(cells: readonly string[]): Entry | undefined {
  const [name = "", asks = "", tests = "", places = ""] = cells;
  const number = numbered.exec(name)?.groups;
  const shownBy = shownByOf(tests);
  if (number === undefined || cells.length !== 4 || shownBy === undefined) return undefined;
  return {
    paper: Paper.parse(number["paper"]),
    number: Number(number["number"]),
    name,
    asks,
    shownBy,
    hasDocument: /\]\([^)]+\.md/.test(places),
    places: Array.from(places.matchAll(/`([^`]+)`/g), ([, code = ""]) => code),
  };
}

function shownByOf(cell: string): Entry["shownBy"] | undefined {
  const reason = /^open: (.+)$/.exec(cell)?.[1];
  if (reason !== undefined) return { kind: "open", reason };
  const tests = cell.split("<br>").map((each) => namedTest.exec(each.trim())?.groups);
  if (!tests.every((each) => each !== undefined)) return undefined;
  return {
    kind: "tests",
    tests: tests.map((each) => ({ file: each["file"] ?? "", part: each["part"] ?? "" })),
  };
}

function totalOf(cells: readonly string[]): Total | undefined {
  const [name = "", ...numbers] = cells;
  const paper = total.exec(name)?.groups?.["paper"];
  const [sentences, withTests, open] = numbers.map((cell) => (/^\d+$/.test(cell) ? +cell : NaN));
  if (paper === undefined || numbers.length !== 3) return undefined;
  return {
    paper: Paper.parse(paper),
    sentences: sentences ?? NaN,
    withTests: withTests ?? NaN,
    open: open ?? NaN,
  };
}
