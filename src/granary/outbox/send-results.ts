import type { BlobStore } from "#cas/blob-store.ts";
import { type Digest, digestKey, hexOf, uniqueDigests } from "#core/digest.ts";
import { messageOf } from "#core/fault.ts";
import {
  PublishResultsResponse_End_Kind as Kind,
  type PublishResultsResponse_End,
} from "#proto/grange/granary/v1/granary_pb.ts";
import { mapAtMost } from "#scheduling/map-at-most.ts";
import type { GranaryFarm } from "../farm/granary-farm.ts";
import type { GranaryResult } from "../granary-result.ts";
import { callInParts, classifyFailure } from "./classify-failure.ts";

export interface ResultSending {
  readonly farm: GranaryFarm;
  readonly local: Pick<BlobStore, "get" | "read">;
  /** Resolves when this number of bytes may be sent; throws when sending must stop. */
  readonly pass: (bytes: number) => Promise<void>;
  readonly onSent: (bytes: number) => void;
  readonly onDropped: (results: readonly GranaryResult[], because: string) => void;
  /** Called when the farm itself fails to accept a result now, with the reason. */
  readonly onFailing: (result: GranaryResult, reason: unknown) => void;
}

/** The most digests of one FindMissingBlobs request in most caches. */
const digestsAtOnce = 5_000;

/** Blobs up to this size are sent in one piece, several at the same time: the farm's client batches them. */
const smallBytes = 1024 * 1024;
const smallAtOnce = 16;
const largeAtOnce = 2;

/** If more of them fail, the cause is not in the blobs. */
const mostFailingBlobs = 8;

/** If the farm still lacks blobs after this many rounds, it loses them as fast as it gets them. */
const mostRounds = 5;

/**
 * Sends results of one project to the farm, their blobs first. Throws when the farm cannot accept them now; safe to
 * repeat, and little is then sent twice.
 */
export async function sendResults(
  sending: ResultSending,
  project: string,
  results: readonly GranaryResult[],
): Promise<void> {
  const { farm, onDropped, onFailing } = sending;
  const there = farm.blobs(project);
  /** By digest, the reason why the blob cannot be sent. */
  const unsendable = new Map<string, string>();
  /** By digest, the reason why sending the blob currently fails. */
  const failing = new Map<string, unknown>();

  const refuse = (digests: readonly Digest[], because: string) => {
    for (const digest of digests) unsendable.set(digestKey(digest), because);
  };
  const fail = (digest: Digest, reason: unknown) => {
    failing.set(digestKey(digest), reason);
    if (failing.size > mostFailingBlobs) throw reason;
  };
  await sending.pass(0);
  for (const some of inChunks(namedBy(results), digestsAtOnce)) {
    const missing = await callInParts(
      some,
      (digests) => there.findMissing(digests),
      (digests, reason) => refuse(digests, messageOf(reason)),
      fail,
    );
    await sendBlobs(sending, there, missing, refuse, fail);
  }

  let waiting = results;
  for (let round = 1; waiting.length > 0; round++) {
    const sendable = waiting.filter((result) => {
      const all = [result.value, ...result.blobs];
      const late = all.find((d) => failing.has(digestKey(d)));
      if (late !== undefined) {
        onFailing(result, failing.get(digestKey(late)));
        return false;
      }
      const lost = all.find((d) => unsendable.has(digestKey(d)));
      if (lost === undefined) return true;
      const key = digestKey(lost);
      onDropped([result], `its blob ${key} cannot be sent: ${unsendable.get(key)}`);
      return false;
    });
    if (round > mostRounds) {
      onDropped(sendable, `after ${mostRounds} rounds the farm still lacked blobs of it`);
      return;
    }
    await sending.pass(0);
    const ended = await callInParts(
      sendable,
      async (some) => withEnds(some, await farm.publishResults(project, some)),
      (some, reason) => onDropped(some, messageOf(reason)),
      onFailing,
    );
    const again: GranaryResult[] = [];
    const missing: Digest[] = [];
    for (const { result, end } of ended) {
      switch (end.kind) {
        case Kind.KEPT:
        case Kind.KNOWN:
          break;
        case Kind.INCOMPLETE:
          again.push(result);
          missing.push(...missingOf(result, end));
          break;
        case Kind.REFUSED:
        case Kind.KIND_UNSPECIFIED:
          onDropped([result], end.message || "the farm gave no reason");
          break;
      }
    }
    await sendBlobs(sending, there, uniqueDigests(missing), refuse, fail);
    waiting = again;
  }
}

async function sendBlobs(
  { local, pass, onSent }: ResultSending,
  there: BlobStore,
  digests: readonly Digest[],
  refuse: (digests: readonly Digest[], because: string) => void,
  fail: (digest: Digest, reason: unknown) => void,
): Promise<void> {
  const isGone = "it is gone from this machine";

  const putting = async (digest: Digest, put: () => Promise<boolean>) => {
    try {
      if (await put()) onSent(digest.sizeBytes);
    } catch (reason) {
      const meaning = classifyFailure(reason);
      if (meaning === "wait") throw reason;
      if (meaning === "failing") fail(digest, reason);
      else refuse([digest], messageOf(reason));
    }
  };

  await mapAtMost(
    smallAtOnce,
    digests.filter(({ sizeBytes }) => sizeBytes <= smallBytes),
    async (digest) => {
      await pass(digest.sizeBytes);
      const bytes = await local.get(digest);
      if (bytes === undefined) refuse([digest], isGone);
      else await putting(digest, () => there.put(digest, bytes).then(() => true));
    },
  );
  await mapAtMost(
    largeAtOnce,
    digests.filter(({ sizeBytes }) => sizeBytes > smallBytes),
    async (digest) => {
      const chunks = await local.read(digest);
      if (chunks === undefined) return refuse([digest], isGone);
      let isLost = false;
      const paced = async function* () {
        const read = chunks[Symbol.asyncIterator]();
        try {
          for (;;) {
            const next = await read.next().catch((reason: unknown) => {
              isLost = true;
              throw reason;
            });
            if (next.done) return;
            await pass(next.value.byteLength);
            yield next.value;
          }
        } finally {
          await read.return?.();
        }
      };
      await putting(digest, () =>
        there.write(digest, paced()).then(
          () => true,
          (reason: unknown) => {
            if (!isLost) throw reason;
            refuse([digest], `${isGone}: ${messageOf(reason)}`);
            return false;
          },
        ),
      );
    },
  );
}

function withEnds(
  results: readonly GranaryResult[],
  ends: readonly PublishResultsResponse_End[],
): { readonly result: GranaryResult; readonly end: PublishResultsResponse_End }[] {
  if (ends.length !== results.length) {
    throw new Error(`the farm answered ${ends.length} times to ${results.length} results`);
  }
  return results.map((result, i) => ({ result, end: ends[i] as PublishResultsResponse_End }));
}

/**
 * Returns the missing blobs, limited to those that the result names: a farm cannot request other blobs of this machine.
 * All of them when the answer names none of these.
 */
function missingOf(result: GranaryResult, end: PublishResultsResponse_End): readonly Digest[] {
  const missingHashes = new Set(end.missing.map(({ hash }) => hash));
  const own = namedBy([result]);
  const named = own.filter(
    (digest) => missingHashes.has(hexOf(digest)) || missingHashes.has(digest.hash),
  );
  return named.length > 0 ? named : own;
}

function namedBy(results: readonly GranaryResult[]): Digest[] {
  return uniqueDigests(results.flatMap(({ value, blobs }) => [value, ...blobs]));
}

function inChunks<T>(items: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, i) =>
    items.slice(i * size, (i + 1) * size),
  );
}
