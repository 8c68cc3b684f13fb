import type { PushedSuite } from "#api/benchmark-history.ts";
import type { Clock } from "#core/clock.ts";
import { Fault } from "#core/fault.ts";
import type { Db, Tx } from "#db/db.ts";
import { parseSuite } from "#suites/read-suite.ts";
import type { Suite } from "#suites/suite.ts";
import { suiteDigest } from "#suites/suite-digest.ts";
import { SuiteProblems } from "#suites/suite-problems.ts";
import { notifyBenchmarkChange } from "./change.store.ts";
import { keepSuite } from "./suites.store.ts";

/**
 * Stores a suite's definition, without a signature. Requests in progress keep the definition from which their jobs were
 * made.
 */
export async function pushSuite(
  { db, clock }: { readonly db: Db; readonly clock: Clock },
  name: string,
  definition: unknown,
  by: string,
  record: (tx: Tx, pushed: PushedSuite) => Promise<void>,
): Promise<PushedSuite> {
  const suite = readPushed(definition, name);
  if (suite.suite !== name) {
    throw new Fault(
      "invalid_argument",
      `the definition is of the suite "${suite.suite}", and not of "${name}"`,
    );
  }
  const digest = suiteDigest(suite);
  return db.transaction(async (tx) => {
    const changed = await keepSuite(tx, suite, digest, by, clock.now());
    const pushed = { name, digest, changed };
    if (!changed) return pushed;
    await record(tx, pushed);
    await notifyBenchmarkChange(tx, name);
    return pushed;
  });
}

function readPushed(definition: unknown, name: string): Suite {
  try {
    return parseSuite(definition, name);
  } catch (reason) {
    // A pushed definition has no file here, unlike other problems in the API: its messages are complete.
    if (reason instanceof SuiteProblems) {
      throw new Fault(reason.code, reason.message, { cause: reason });
    }
    throw reason;
  }
}
