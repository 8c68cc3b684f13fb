import type { ResultKey } from "#commit-index/result-key.ts";
import type { Tx } from "#db/db.ts";
import { quarantinedAfter } from "./quarantine.store.ts";
import { actionHashOf, bazelKeyOf } from "./same-result.ts";

export interface QuarantineUpdateOfFarm {
  readonly results: readonly ResultKey[];
  /** The version up to which this update is complete. */
  readonly version: number;
}

/** Each may have a second name. A granary that missed more gets the rest when its next build starts. */
const mostAtOnce = 1_000;

/**
 * Returns the keys to drop for a granary that has all updates up to a version, oldest first, under both names that it
 * may use.
 *
 * For a result of Bazel's HTTP cache the name in REv2 is unknown, because it contains the action's size. A client that
 * uses both protocols has requested it under that name, too.
 */
export async function quarantineUpdate(
  tx: Tx,
  project: string,
  since: number,
  most: number = mostAtOnce,
): Promise<QuarantineUpdateOfFarm> {
  const { newest, results } = await quarantinedAfter(tx, project, since, most);
  const last = results.at(-1);
  return {
    results: results.flatMap(({ namespace, key }) => namesOf({ namespace, key })),
    version: last !== undefined && results.length === most ? last.version : newest,
  };
}

function namesOf(result: ResultKey): ResultKey[] {
  const other = result.namespace === "reapi" ? bazelKeyOf(actionHashOf(result) ?? "") : undefined;
  return other === undefined ? [result] : [result, { namespace: "bazel", key: other }];
}
