import type { CollectorHello } from "#api/collector.ts";
import { Fault } from "#core/fault.ts";
import { isKeepable } from "#core/keepable-text.ts";
import type { Tx } from "#db/db.ts";
import { notifyBenchmarkChange } from "../change.store.ts";
import { noSuchCollector } from "./change-register.ts";
import { keepEnvironment, registerProcess } from "./collector.store.ts";
import { environmentFingerprint } from "./environment-fingerprint.ts";

/**
 * A process starts to act for a collector. Calls of the earlier process are refused from now on; its job is given to
 * the new process at its first claim, with all existing measurements.
 */
export async function registerCollectorProcess(
  tx: Tx,
  name: string,
  { incarnation, version, environment }: CollectorHello,
  now: Date,
): Promise<{ readonly fingerprint: string; readonly target: string }> {
  for (const text of [version, ...Object.entries(environment).flat()]) {
    if (!isKeepable(text))
      throw new Fault(
        "invalid_argument",
        `${JSON.stringify(text)} cannot be stored: it contains a NUL character`,
      );
  }
  const fingerprint = environmentFingerprint(environment);
  await keepEnvironment(tx, fingerprint, environment, now);
  const target = await registerProcess(tx, name, { incarnation, version, fingerprint }, now);
  if (target === undefined) throw noSuchCollector(name);
  await notifyBenchmarkChange(tx);
  return { fingerprint, target };
}
