import { create } from "@bufbuild/protobuf";
import { fromDigestMessage, toDigestMessage } from "#cas/digest-message.ts";
import { ResultKey } from "#commit-index/result-key.ts";
import { type Digest, functionOf } from "#core/digest.ts";
import { Fault } from "#core/fault.ts";
import {
  type ResultKey as KeyMessage,
  type StoredResult,
  StoredResultSchema,
} from "#proto/grange/granary/v1/granary_pb.ts";
import { digestNamed } from "./digest-named.ts";
import type { ResultFacts } from "./entry-attributes.ts";
import type { FarmResult } from "./project-results.ts";

export function toStoredResult(result: FarmResult): StoredResult {
  return create(StoredResultSchema, {
    result: { namespace: result.namespace, key: result.key },
    value: toDigestMessage(result.value),
    attributes: { ...result.attributes },
    blobs: result.blobs.map(toDigestMessage),
    ...(result.costMs === undefined ? {} : { costMs: result.costMs }),
  });
}

/** A result as a granary describes it. */
export interface ReceivedResult extends ResultKey, ResultFacts {
  readonly value: Digest;
}

/** Throws `invalid_argument` for an invalid result. */
export function fromStoredResult(message: StoredResult): ReceivedResult {
  const key = keyOf(message.result);
  const action = key.namespace === "reapi" ? digestNamed(key.key) : undefined;
  if (key.namespace === "reapi" && action === undefined) {
    throw new Fault("invalid_argument", `${key.key} is not the hash/size of an action`);
  }
  const by = action === undefined ? "sha256" : functionOf(action);
  return {
    ...key,
    value: fromDigestMessage(message.value, "a result's value"),
    attributes: message.attributes,
    blobs: message.blobs.map((blob) => fromDigestMessage(blob, "a result's blob", by)),
    costMs: message.costMs,
  };
}

/** Throws `invalid_argument` for an invalid key. The farm stores no control characters. */
export function keyOf(message: KeyMessage | undefined): ResultKey {
  const key = ResultKey.safeParse({ namespace: message?.namespace, key: message?.key });
  if (key.success && !/[\p{Cc}\p{Surrogate}]/u.test(key.data.key)) return key.data;
  throw new Fault(
    "invalid_argument",
    `${JSON.stringify(message?.namespace.slice(0, 32) ?? "")} with a key of ${message?.key.length ?? 0} characters names no result`,
  );
}
