import type { ExitCode } from "../exit-code.ts";
import { answer, type Session } from "../session.ts";
import { UsageError } from "../usage-error.ts";
import type { CompareOptions } from "./compare.ts";
import { comparisonLines } from "./compare-lines.ts";
import { farmSuite } from "./farm-suite.ts";
import { pageLine } from "./page-address.ts";

/** Compares a farm's measurements of two artifacts, with its history. */
export async function compareOnFarm(
  session: Session,
  before: string,
  after: string,
  options: CompareOptions,
): Promise<ExitCode> {
  const given = {
    "--across": options.across,
    "--measure": options.measure,
    "--data": options.data,
  };
  for (const [name, value] of Object.entries(given)) {
    if (value !== undefined)
      throw new UsageError(`${name} cannot be used with --server; it needs local measurements`);
  }
  const { benchmarkHistoryEndpoints } = await import(
    "#api/endpoints/benchmark-history-endpoints.ts"
  );
  const suite = await farmSuite(session.api, options.suite);
  const { metric } = options;
  const found = await session.api.call(benchmarkHistoryEndpoints.compareBenchmarks, {
    query: { suite, before, after, metric },
  });
  return answer(session, options, found, () => [
    ...comparisonLines(
      { ...found, before: found.before.tag, after: found.after.tag },
      {
        all: options.all === true,
        toKnow: `grange bench request ${found.after.tag} --parent ${found.before.tag} --suite ${suite} --paired`,
        // The farm's answer has the cases of one metric.
        metric: found.metric,
        paint: session.terminal.answer.paint,
        why:
          found.cases.length + found.missing.length === 0
            ? "No case has been measured for both artifacts."
            : undefined,
      },
    ),
    "",
    pageLine(session.api.serverUrl, ["compare"], {
      suite,
      before: found.before.tag,
      after: found.after.tag,
      metric,
    }),
  ]);
}
