import type { SetBalance } from "#api/benchmark-history.ts";
import { Fault } from "#core/fault.ts";
import type { Tx } from "#db/db.ts";
import { balanceSets } from "#suites/balance-sets.ts";
import { findSuite } from "../suites.store.ts";
import { noSuite } from "./read-comparison.ts";
import { secondsOfBenchmarks } from "./set-durations.store.ts";

/** Returns a distribution of a suite's benchmarks over sets so that all sets take about equally long. */
export async function readSetBalance(
  tx: Tx,
  suiteName: string,
  target: string,
  sets: number | undefined,
): Promise<SetBalance> {
  const stored = await findSuite(tx, suiteName);
  if (stored === undefined) throw noSuite(suiteName);
  const suite = stored.definition;
  if (!Object.hasOwn(suite.targets, target)) {
    throw new Fault(
      "not_found",
      `${suiteName} has no target "${target}"; it has ${Object.keys(suite.targets).toSorted().join(", ")}`,
    );
  }
  const seconds = await secondsOfBenchmarks(tx, suiteName, target);
  return balanceSets(suite, target, seconds, sets);
}
