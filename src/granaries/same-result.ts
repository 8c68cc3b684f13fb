import type { ResultKey } from "#commit-index/result-key.ts";

/** The action's hash in a key of Bazel's HTTP cache. */
export function bazelResultHash(key: string): string | undefined {
  return /^ac\/([0-9a-f]{64})$/.exec(key)?.[1];
}

/** Returns the hash of a result's action; undefined for results without an action. */
export function actionHashOf({ namespace, key }: ResultKey): string | undefined {
  if (namespace === "bazel") return bazelResultHash(key);
  return namespace === "reapi" ? key.slice(0, key.indexOf("/")) : undefined;
}

/** Returns the key of an action's result in Bazel's HTTP cache: `/ac/HASH` and REv2 share results. */
export function bazelKeyOf(actionHash: string): string | undefined {
  return /^[0-9a-f]{64}$/.test(actionHash) ? `ac/${actionHash}` : undefined;
}
