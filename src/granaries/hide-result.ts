import { quarantineResults, resultsInDoubt } from "#actions/quarantine-results.store.ts";
import { entryInDoubt, quarantineEntry } from "#caches/quarantine-entries.store.ts";
import { digestOf } from "#cas/digest-of.ts";
import type { ResultKey } from "#commit-index/result-key.ts";
import type { Digest } from "#core/digest.ts";
import type { Tx } from "#db/db.ts";
import { digestNamed } from "./digest-named.ts";
import { actionHashOf, bazelKeyOf } from "./same-result.ts";

/** A result as the farm has it now. */
interface KeptResult {
  readonly value: Digest;
  readonly producer: string;
  readonly isQuarantined: boolean;
}

/**
 * Returns the current result, locked. With several domains, returns the result of the first domain
 * that has one.
 */
export async function keptResult(
  tx: Tx,
  project: string,
  { namespace, key }: ResultKey,
  isMeant: (kept: KeptResult) => boolean,
): Promise<KeptResult | undefined> {
  if (namespace === "reapi") {
    return (await resultsInDoubt(tx, project, key))
      .map(({ result, ...row }) => ({ ...row, value: digestOf(result) }))
      .find(isMeant);
  }
  const entry = await entryInDoubt(tx, { project, tool: namespace, key });
  const value = entry && digestNamed(entry.digest);
  if (entry === undefined || value === undefined) return undefined;
  const kept = { value, producer: entry.principal, isQuarantined: entry.isQuarantined };
  return isMeant(kept) ? kept : undefined;
}

/** Hides a result from all clients from now on, in both REv2 and Bazel's HTTP cache, which share results. */
export async function hide(
  tx: Tx,
  project: string,
  doubted: ResultKey,
  { value, producer }: Pick<KeptResult, "value" | "producer">,
): Promise<void> {
  const hash = actionHashOf(doubted);
  if (hash !== undefined) await quarantineResults(tx, project, hash, producer);
  const entry = entryNameOf(project, doubted);
  if (entry !== undefined) await quarantineEntry(tx, entry, { digest: value, principal: producer });
}

/** Returns its name in the caches of tools, if any. */
export function entryNameOf(project: string, result: ResultKey) {
  if (result.namespace !== "reapi") return { project, tool: result.namespace, key: result.key };
  const key = bazelKeyOf(actionHashOf(result) ?? "");
  return key === undefined ? undefined : { project, tool: "bazel" as const, key };
}
