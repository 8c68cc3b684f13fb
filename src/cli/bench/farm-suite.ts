import type { BenchmarkHistoryCalls } from "../api/benchmark-history-calls.ts";
import { printableLine } from "../terminal/printable-text.ts";
import { UsageError } from "../usage-error.ts";

/** The named suite, or the farm's only one. */
export async function farmSuite(
  calls: Pick<BenchmarkHistoryCalls, "suites">,
  named: string | undefined,
): Promise<string> {
  if (named !== undefined) return named;
  const names = (await calls.suites()).suites.map(({ name }) => name);
  const [only, another] = names;
  if (only === undefined)
    throw new UsageError(
      "the farm has no benchmark suite yet; `grange bench suite push` gives it one",
    );
  if (another !== undefined) {
    throw new UsageError(`say which suite: --suite ${names.map(printableLine).join(", ")}`);
  }
  return only;
}
