import { fromBinary } from "@bufbuild/protobuf";
import { keepClientResult } from "#actions/client-results.ts";
import type { Caches } from "#caches/caches.ts";
import { keyText } from "#commit-index/result-key.ts";
import { type Digest, digestKey } from "#core/digest.ts";
import { Fault, messageOf } from "#core/fault.ts";
import type { TrustDomain } from "#core/trust-domain.ts";
import type { Db } from "#db/db.ts";
import {
  type ActionResult,
  ActionResultSchema,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { mapAtMost } from "#scheduling/map-at-most.ts";
import { digestNamed } from "./digest-named.ts";
import { toAttributes } from "./entry-attributes.ts";
import type { TreesOf } from "./project-parts.ts";
import type { ProjectResults } from "./project-results.ts";
import { keysInQuarantine } from "./quarantine.store.ts";
import { bazelResultHash } from "./same-result.ts";
import type { ReceivedResult } from "./stored-result-message.ts";

/** The outcome for a result that a granary has published. */
export type ResultEnd =
  | { readonly kind: "kept" }
  /** The result already exists and stays as it is. */
  | { readonly kind: "known" }
  | { readonly kind: "incomplete"; readonly missing: readonly Digest[] }
  | { readonly kind: "refused"; readonly message: string };

interface PublishParts {
  readonly db: Db;
  readonly treesOf: TreesOf;
  readonly caches: Pick<Caches, "keep">;
  readonly results: ProjectResults;
  readonly domain: TrustDomain;
}

/** No tool writes a larger ActionResult. */
const mostResultBytes = 4 * 1_048_576;
const atOnce = 16;

/** Stores results whose blobs exist; returns one outcome for each, in order. Stored results are durable. */
export async function publishResults(
  parts: PublishParts,
  project: string,
  reported: readonly (ReceivedResult | Fault)[],
  principal: string,
): Promise<ResultEnd[]> {
  const sound = reported.filter((each): each is ReceivedResult => !(each instanceof Fault));
  const [quarantined, known] = await Promise.all([
    keysInQuarantine(parts.db, project, sound),
    parts.results.whole(project, sound),
  ]);
  const doubted = new Set(quarantined.map(keyText));
  const valueOf = new Map(known.map((result) => [keyText(result), digestKey(result.value)]));
  return mapAtMost(atOnce, reported, async (result): Promise<ResultEnd> => {
    if (result instanceof Fault) return { kind: "refused", message: result.message };
    const name = keyText(result);
    if (doubted.has(name)) {
      return {
        kind: "refused",
        message: `${name} is in quarantine: a repeated execution had another result; an administrator of the farm can release it`,
      };
    }
    if (valueOf.get(name) === digestKey(result.value)) return { kind: "known" };
    try {
      return result.namespace === "reapi"
        ? await keepAction(parts, project, result, principal)
        : await keepEntry(parts, project, result, principal);
    } catch (reason) {
      if (reason instanceof Fault && reason.code === "invalid_argument") {
        return { kind: "refused", message: messageOf(reason) };
      }
      throw reason;
    }
  });
}

async function keepAction(
  { db, treesOf, domain }: PublishParts,
  project: string,
  { key, value }: ReceivedResult,
  principal: string,
): Promise<ResultEnd> {
  const actionDigest = digestNamed(key);
  if (actionDigest === undefined) return { kind: "refused", message: `${key} is not an action` };
  if (value.sizeBytes > mostResultBytes) {
    return { kind: "refused", message: `an ActionResult of over ${mostResultBytes} bytes` };
  }
  const trees = treesOf(project);
  const bytes = await trees.store.get(value);
  if (bytes === undefined) return { kind: "incomplete", missing: [value] };
  const result = actionResultIn(bytes);
  if (result === undefined) {
    return { kind: "refused", message: `${digestKey(value)} is not an ActionResult` };
  }
  const end = await keepClientResult(db, trees, {
    project,
    domain,
    actionDigest,
    result,
    principal,
    as: bytes,
  });
  return end.kind === "not_cacheable"
    ? { kind: "refused", message: "the action failed, and failures are not stored" }
    : end;
}

function actionResultIn(bytes: Uint8Array): ActionResult | undefined {
  try {
    return fromBinary(ActionResultSchema, bytes);
  } catch {
    return undefined;
  }
}

async function keepEntry(
  { treesOf, caches, domain }: PublishParts,
  project: string,
  result: ReceivedResult,
  principal: string,
): Promise<ResultEnd> {
  const { namespace, key, value, blobs } = result;
  if (namespace === "reapi")
    return { kind: "refused", message: "an action's result is not an entry" };
  if (namespace === "bazel" && bazelResultHash(key) === undefined) {
    return { kind: "refused", message: `${key} is not ac/HASH` };
  }
  const attributes = toAttributes(result);
  const missing = await treesOf(project).store.findMissing([value, ...blobs]);
  if (missing.length > 0) return { kind: "incomplete", missing };
  // Nx's contract: an existing result is never overwritten.
  const again = namespace === "nx" ? "refuse" : "replace";
  const entry = { project, tool: namespace, key, domain, digest: value, attributes, principal };
  const end = await caches.keep(entry, again);
  return { kind: end === "kept" ? "kept" : "known" };
}
