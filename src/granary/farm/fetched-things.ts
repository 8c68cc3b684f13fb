import { fromBinary } from "@bufbuild/protobuf";
import { assertFewParts } from "#cas/message-parts.ts";
import { unzstdWhole } from "#cas/zstd/zstd-streams.ts";
import { fromLoneDigest } from "#commit-index/lone-digest.ts";
import { keyText } from "#commit-index/result-key.ts";
import { type Digest, digestKey } from "#core/digest.ts";
import { Fault } from "#core/fault.ts";
import {
  type FetchedItem,
  FetchedSchema,
  type FetchResponse,
} from "#proto/grange/granary/v1/granary_pb.ts";
import type { FetchedThing, FetchRequest } from "./granary-farm.ts";
import { fromKeyMessage, fromStoredResult } from "./stored-result.ts";

/** The answer to requests, as it arrives. */
interface FetchedThings {
  in(message: FetchResponse): Promise<FetchedThing[]>;
  /** Returns, after the last message, the requests without an answer as missing. */
  rest(): FetchedThing[];
}

/**
 * The limit for an unpacked message, which is 4 MiB packed: four times what a farm packs together.
 */
const mostUnpackedBytes = 16 * 1024 * 1024;
const mostParts = 100_000;

/**
 * Reads the answers of a farm to requests, message by message.
 *
 * Nothing is trusted: only requested items are accepted, a result once, the bytes of a blob in order and no more than
 * its digest states. So a farm cannot send more than was requested.
 */
export function fetchedThings(project: string, requests: readonly FetchRequest[]): FetchedThings {
  const open = new Map(requests.map((request) => [requestText(request), request]));
  let begun: { readonly key: string; readonly digest: Digest; bytes: number } | undefined;

  const taken = (text: string): FetchRequest => {
    const request = open.get(text);
    if (request === undefined) throw nonsense(`sends ${text}, which was not requested`);
    open.delete(text);
    return request;
  };

  const thingIn = ({ item }: FetchedItem): FetchedThing => {
    if (begun !== undefined && item.case !== "blob") {
      throw nonsense(`breaks off ${begun.key} for something else`);
    }
    switch (item.case) {
      case "result": {
        const result = fromStoredResult(project, item.value);
        taken(requestText({ kind: "result", key: result }));
        return { kind: "result", result };
      }
      case "absent": {
        const { item: what } = item.value;
        if (what.case === "result") {
          const key = fromKeyMessage(what.value);
          return { kind: "absent", request: taken(requestText({ kind: "result", key })) };
        }
        const digest = fromLoneDigest(what.value, "an absent blob");
        return { kind: "absent", request: taken(requestText({ kind: "blob", digest })) };
      }
      case "blob": {
        const digest = fromLoneDigest(item.value.digest, "a blob");
        const { data } = item.value;
        const key = digestKey(digest);
        if (begun === undefined) {
          taken(requestText({ kind: "blob", digest }));
          begun = { key, digest, bytes: 0 };
        }
        const offset = begun.bytes;
        if (begun.key !== key || item.value.offset !== BigInt(offset)) {
          throw nonsense(
            `sends ${key} from ${item.value.offset}, where ${begun.key} is at ${offset}`,
          );
        }
        begun.bytes += data.byteLength;
        if (begun.bytes > digest.sizeBytes) throw nonsense(`sends more than all of ${key}`);
        if (data.byteLength === 0 && digest.sizeBytes > 0)
          throw nonsense(`sends nothing of ${key}`);
        if (begun.bytes === digest.sizeBytes) begun = undefined;
        return { kind: "part", digest, offset, data };
      }
      case undefined:
        throw nonsense("sends something of a kind that is not known here");
    }
  };

  return {
    async in({ packed, unpackedBytes }) {
      if (unpackedBytes > mostUnpackedBytes)
        throw nonsense(`packs ${unpackedBytes} bytes into one`);
      const bytes = await unzstdWhole(packed, unpackedBytes);
      if (bytes.byteLength !== unpackedBytes) throw nonsense("unpacks to fewer bytes than it says");
      assertFewParts(FetchedSchema, bytes, mostParts);
      return fromBinary(FetchedSchema, bytes).items.map(thingIn);
    },
    rest() {
      if (begun !== undefined) throw nonsense(`ends in the middle of ${begun.key}`);
      return [...open.values()].map((request) => ({ kind: "absent", request }));
    },
  };
}

/** Returns a text that identifies a request. */
export function requestText(request: FetchRequest): string {
  return request.kind === "result" ? keyText(request.key) : `blob ${digestKey(request.digest)}`;
}

function nonsense(what: string): Fault {
  return new Fault("data_loss", `the farm's stream ${what}`);
}
