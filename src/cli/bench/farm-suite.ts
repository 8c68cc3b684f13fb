import type { ApiClient } from "../api/api-client.ts";
import { printableLine } from "../terminal/printable-text.ts";
import { UsageError } from "../usage-error.ts";

/** Returns the named suite, or the farm's only one. */
export async function farmSuite(
  api: Pick<ApiClient, "call">,
  named: string | undefined,
): Promise<string> {
  if (named !== undefined) return named;
  const { benchmarkSuiteEndpoints } = await import("#api/endpoints/benchmark-suite-endpoints.ts");
  const { suites } = await api.call(benchmarkSuiteEndpoints.benchmarkSuites, {});
  const names = suites.map(({ name }) => name);
  const [only, another] = names;
  if (only === undefined)
    throw new UsageError("the farm has no benchmark suite yet; push one: grange bench suite push");
  if (another !== undefined) {
    throw new UsageError(`name a suite: --suite ${names.map(printableLine).join(", ")}`);
  }
  return only;
}
