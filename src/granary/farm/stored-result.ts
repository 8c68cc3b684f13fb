import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { fromDigestMessage, toDigestMessage } from "#cas/digest-message.ts";
import { indexLimits } from "#commit-index/index-limits.ts";
import { isNamespace, type ResultKey } from "#commit-index/result-key.ts";
import { type DigestFunction, functionOf, parseDigestKey } from "#core/digest.ts";
import { Fault } from "#core/fault.ts";
import {
  type ResultKey as ResultKeyMessage,
  type StoredResult,
  StoredResultSchema,
} from "#proto/grange/granary/v1/granary_pb.ts";
import type { GranaryResult } from "../granary-result.ts";

/** Much more than any tool sends; a larger number is refused. */
const mostBlobs = 1_000_000;
const mostAttributes = 32;
const longestAttribute = 1_024;

export function toStoredResult(result: GranaryResult): MessageInitShape<typeof StoredResultSchema> {
  return create(StoredResultSchema, {
    result: { namespace: result.namespace, key: result.key },
    value: toDigestMessage(result.value),
    attributes: { ...result.attributes },
    blobs: result.blobs.map(toDigestMessage),
    ...(result.costMs === undefined ? {} : { costMs: wholeCost(result.costMs) }),
  });
}

/** Parses a result of the farm. Throws for an invalid one. */
export function fromStoredResult(project: string, stored: StoredResult): GranaryResult {
  const key = fromKeyMessage(stored.result);
  const attributes = Object.entries(stored.attributes);
  const areFew = attributes.length <= mostAttributes && stored.blobs.length <= mostBlobs;
  if (!areFew || attributes.flat().some((text) => text.length > longestAttribute)) {
    throw new Fault("data_loss", `the farm's result ${key.key} is too large`);
  }
  const by = functionOfKey(key);
  return {
    ...key,
    project,
    value: fromDigestMessage(stored.value, "a result's value"),
    attributes: Object.fromEntries(attributes),
    blobs: stored.blobs.map((blob) => fromDigestMessage(blob, "a result's blob", by)),
    costMs: stored.costMs,
  };
}

/** Checked by hand like `ResultKey`, because it runs for each fetched result. */
export function fromKeyMessage(message: ResultKeyMessage | undefined): ResultKey {
  const { namespace = "", key = "" } = message ?? {};
  if (isNamespace(namespace) && key.length > 0 && key.length <= indexLimits.keyLength) {
    return { namespace, key };
  }
  throw new Fault("data_loss", "the farm names a result by an invalid key");
}

/** Returns the function of a key: digests in an REv2 result use the function of its action without naming it. */
function functionOfKey({ namespace, key }: ResultKey): DigestFunction {
  if (namespace !== "reapi") return "sha256";
  try {
    return functionOf(parseDigestKey(key));
  } catch (cause) {
    throw new Fault("data_loss", `${key} is not the digest of an action`, { cause });
  }
}

function wholeCost(costMs: number): number {
  return Math.min(Math.max(0, Math.round(costMs)), 2 ** 32 - 1);
}
