import { caseKey, caseOfKey, type TestCase } from "#core/test-case.ts";
import { printableLine } from "../terminal/printable-text.ts";
import { UsageError } from "../usage-error.ts";

/** All six words name a case whoever has it; of fewer, they must name one alone of those that were measured. */
export async function findSeriesCase(
  words: readonly string[],
  measured: () => Promise<readonly TestCase[]>,
): Promise<TestCase> {
  const written = words.flatMap((word) => word.split(" ")).filter((word) => word !== "");
  const exact = caseOfKey(written.join(" "));
  if (exact !== undefined) return exact;
  const all = new Map((await measured()).map((each) => [caseKey(each), each]));
  const fitting = [...all].filter(([key]) => {
    const own = new Set(key.split(" "));
    return written.every((word) => own.has(word));
  });
  const [only, another] = fitting;
  if (only === undefined) {
    throw new UsageError(`nothing was measured of "${printableLine(written.join(" "))}" lately`);
  }
  if (another === undefined) return only[1];
  const some = fitting.slice(0, 10).map(([key]) => `  ${key}`);
  const rest = fitting.length > some.length ? [`  and ${fitting.length - some.length} more`] : [];
  throw new UsageError(
    [`${fitting.length} cases fit; write more words:`, ...some, ...rest].join("\n"),
  );
}
