import { caseKey, caseOfKey, type TestCase } from "#core/test-case.ts";
import { printableLine } from "../terminal/printable-text.ts";
import { UsageError } from "../usage-error.ts";

/**
 * Finds a case by its words. All six words name a case in every suite; fewer must match exactly one of the measured
 * cases.
 */
export async function findSeriesCase(
  words: readonly string[],
  measured: () => Promise<readonly TestCase[]>,
): Promise<TestCase> {
  const written = words.flatMap((word) => word.split(" ")).filter((word) => word !== "");
  const exact = caseOfKey(written.join(" "));
  if (exact !== undefined) return exact;
  const all = new Map((await measured()).map((each) => [caseKey(each), each]));
  const wholly = [...all].filter(([key]) => {
    const own = new Set(key.split(" "));
    return written.every((word) => own.has(word));
  });
  // Imported names are long, such as `BenchmarkFib10-8`: a part of one is enough.
  const fitting = wholly.length > 0 ? wholly : [...all].filter(([key]) => holds(key, written));
  const [only, another] = fitting;
  if (only === undefined) {
    throw new UsageError(
      [
        `"${printableLine(written.join(" "))}" matches no case with recent figures`,
        ...listed("the cases are", [...all.keys()]),
      ].join("\n"),
    );
  }
  if (another === undefined) return only[1];
  const keys = fitting.map(([key]) => key);
  throw new UsageError(listed(`${keys.length} cases match; write more words`, keys).join("\n"));
}

function holds(key: string, words: readonly string[]): boolean {
  const own = key.toLowerCase().split(" ");
  return words.every((word) => own.some((each) => each.includes(word.toLowerCase())));
}

function listed(what: string, keys: readonly string[]): string[] {
  if (keys.length === 0) return [];
  const rest = keys.length > 10 ? [`  and ${keys.length - 10} more`] : [];
  return [`${what}:`, ...keys.slice(0, 10).map((key) => `  ${key}`), ...rest];
}
