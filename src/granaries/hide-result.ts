import { quarantineResults, resultsInDoubt } from "#actions/quarantine-results.store.ts";
import { entriesInDoubt, quarantineEntry } from "#caches/quarantine-entries.store.ts";
import { digestOf } from "#cas/digest-of.ts";
import type { ResultKey } from "#commit-index/result-key.ts";
import type { Digest } from "#core/digest.ts";
import { protectedDomain, type TrustDomain } from "#core/trust-domain.ts";
import type { Tx } from "#db/db.ts";
import { digestNamed } from "./digest-named.ts";
import { actionHashOf, bazelKeyOf } from "./same-result.ts";

/** A result as the farm has it now. */
interface KeptResult {
  readonly value: Digest;
  /** For a result of an action always `protected`: those of all domains are hidden together. */
  readonly domain: TrustDomain;
  readonly producer: string;
  readonly isQuarantined: boolean;
}

/** Returns the current result, locked. With several domains, the first that matches; `protected` comes first. */
export async function keptResult(
  tx: Tx,
  project: string,
  { namespace, key }: ResultKey,
  isMeant: (kept: KeptResult) => boolean,
): Promise<KeptResult | undefined> {
  if (namespace === "reapi") {
    return (await resultsInDoubt(tx, project, key))
      .map(({ result, ...row }) => ({ ...row, value: digestOf(result), domain: protectedDomain }))
      .find(isMeant);
  }
  return (await entriesInDoubt(tx, { project, tool: namespace, key }))
    .flatMap(({ digest, principal, domain, isQuarantined }) => {
      const value = digestNamed(digest);
      return value === undefined ? [] : [{ value, domain, producer: principal, isQuarantined }];
    })
    .find(isMeant);
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
