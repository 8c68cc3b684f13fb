import type { BlobStore } from "#cas/blob-store.ts";
import { contentChunks } from "#cas/chunking/content-chunks.ts";
import { fastCdcCutter } from "#cas/chunking/fast-cdc.ts";
import { fromDigestMessage, toDigestMessage } from "#cas/digest-message.ts";
import { digestOfMany } from "#cas/digest-of.ts";
import { type Digest, digestKey, functionOf } from "#core/digest.ts";
import { FairGate } from "#core/fair-gate.ts";
import { Fault } from "#core/fault.ts";
import type { CallContext } from "#grpc/call-context.ts";
import { type Method, methodsOf } from "#grpc/method.ts";
import {
  ChunkingFunction_Value,
  ContentAddressableStorage,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { takingTurns } from "#scheduling/take-turns.ts";
import {
  chunkSizes,
  haveFastCdcSizes,
  mostChunkedBytesOf,
  mostChunksOf,
  whyNotTogether,
} from "../chunk-lists/chunk-limits.ts";
import type { ChunkLists } from "../chunk-lists/chunk-lists.ts";
import type { BlobsFor, RequireMayWrite } from "./blobs-for.ts";
import { projectOf } from "./project-of.ts";

/** Each reads and writes a large blob. */
const atOnce = 4;
/** Digests that are parsed or looked up before other work has its turn. */
const digestsAtOnce = 100;
/** Missing chunks that an error names. */
const namedChunks = 3;

/**
 * SplitBlob and SpliceBlob.
 *
 * Chunks are blobs of the project like others. A stored list of a blob's chunks is returned to all who may read; the
 * farm splits a blob only for callers who may put blobs, because that stores its chunks.
 */
export function chunkingService(parts: {
  readonly blobsFor: BlobsFor;
  readonly requireMayWrite: RequireMayWrite;
  readonly lists: ChunkLists;
}): Method[] {
  const { blobsFor, requireMayWrite, lists } = parts;
  const gate = new FairGate(atOnce);

  return methodsOf(ContentAddressableStorage, {
    async splitBlob({ instanceName, blobDigest, digestFunction }, context) {
      const project = projectOf(instanceName);
      const blob = fromDigestMessage(blobDigest, "the blob", digestFunction);
      const blobs = blobsFor(project, context);
      // Also checks the right to read, which those who may only look for blobs do not have.
      if ((await blobs.read(blob)) === undefined) throw isMissing(blob);
      const chunks =
        (await storedChunks(lists, project, blobs, blob, context)) ??
        (await gate.through(
          context.peer,
          async () => {
            await requireMaySplit(requireMayWrite, project, blob, context);
            const split = await splitIntoChunks(blobs, blob, context);
            await lists.keep(project, blob, split);
            return split;
          },
          context.signal,
        ));
      return {
        chunkDigests: chunks.map(toDigestMessage),
        chunkingFunction: ChunkingFunction_Value.FAST_CDC_2020,
      };
    },

    async spliceBlob(request, context) {
      const project = projectOf(request.instanceName);
      await requireMayWrite(project, context);
      const blob = fromDigestMessage(request.blobDigest, "the blob", request.digestFunction);
      const turn = takingTurns(undefined, context.peer);
      const chunks: Digest[] = [];
      for (const [at, message] of request.chunkDigests.entries()) {
        if (at % digestsAtOnce === 0) await turn();
        chunks.push(fromDigestMessage(message, `chunk ${at}`, functionOf(blob)));
      }
      const problem = whyNotTogether(blob, chunks);
      if (problem !== undefined) throw new Fault("invalid_argument", problem);

      const blobs = blobsFor(project, context);
      if ((await missingOf(blobs, [blob], context)).length > 0) {
        const missing = await missingOf(blobs, chunks, context);
        if (missing.length > 0) throw areMissing(missing);
        await gate.through(
          context.peer,
          () => blobs.write(blob, concatenated(blobs, chunks, context)),
          context.signal,
        );
        const isFastCdc = request.chunkingFunction === ChunkingFunction_Value.FAST_CDC_2020;
        if (isFastCdc && chunks.length > 0 && haveFastCdcSizes(chunks)) {
          await lists.keep(project, blob, chunks);
        }
      }
      return { blobDigest: toDigestMessage(blob) };
    },
  });
}

/** Returns the chunks of a blob if nothing has to be read or written for them: none is missing. */
async function storedChunks(
  lists: ChunkLists,
  project: string,
  blobs: BlobStore,
  blob: Digest,
  context: CallContext,
): Promise<readonly Digest[] | undefined> {
  if (blob.sizeBytes === 0) return [];
  if (blob.sizeBytes <= chunkSizes.leastBytes) return [blob];
  const chunks = await lists.find(project, blob);
  if (chunks === undefined) return undefined;
  // Also extends the life of the blob and of its chunks.
  const missing = await missingOf(blobs, [blob, ...chunks], context);
  return missing.length === 0 ? chunks : undefined;
}

/** Throws `not_found`, as for blobs that nobody has split, if the caller may not put blobs. */
async function requireMaySplit(
  requireMayWrite: RequireMayWrite,
  project: string,
  blob: Digest,
  context: CallContext,
): Promise<void> {
  if (blob.sizeBytes > mostChunkedBytesOf(blob)) {
    throw new Fault(
      "not_found",
      `${digestKey(blob)} is larger than ${mostChunkedBytesOf(blob)} bytes, so it is not split: read it with ByteStream`,
    );
  }
  try {
    await requireMayWrite(project, context);
  } catch (cause) {
    if (!(cause instanceof Fault) || cause.code !== "permission_denied") throw cause;
    throw new Fault(
      "not_found",
      `${digestKey(blob)} was not split yet; the farm splits it only for callers who may put blobs into the project`,
      { cause },
    );
  }
}

/** Stores the chunks of a blob that are missing, and returns all of them in their order. */
async function splitIntoChunks(
  blobs: BlobStore,
  blob: Digest,
  context: CallContext,
): Promise<readonly Digest[]> {
  const pieces = await blobs.read(blob);
  if (pieces === undefined) throw isMissing(blob);
  const most = mostChunksOf(blob);
  const cutter = fastCdcCutter(blob.sizeBytes, chunkSizes);
  const turn = takingTurns(undefined, context.peer);
  const chunks: Digest[] = [];
  for await (const bytes of contentChunks(pieces, cutter, turn)) {
    context.signal.throwIfAborted();
    if (chunks.length === most) {
      throw new Fault("not_found", `${digestKey(blob)} would have more than ${most} chunks`);
    }
    const digest = await digestOfMany(bytes, functionOf(blob));
    // Most chunks of a new version are here, and do not count against the caller's quota.
    if ((await blobs.findMissing([digest])).length > 0) await blobs.put(digest, bytes);
    chunks.push(digest);
  }
  return chunks;
}

async function missingOf(
  blobs: BlobStore,
  digests: readonly Digest[],
  context: CallContext,
): Promise<Digest[]> {
  const turn = takingTurns(undefined, context.peer);
  const missing: Digest[] = [];
  for (let at = 0; at < digests.length; at += digestsAtOnce) {
    await turn();
    missing.push(...(await blobs.findMissing(digests.slice(at, at + digestsAtOnce))));
  }
  return missing;
}

/** Yields the bytes of chunks, one after the other. A chunk that is corrupt here was removed, so it is missing. */
async function* concatenated(
  blobs: BlobStore,
  chunks: readonly Digest[],
  { signal }: CallContext,
): AsyncGenerator<Uint8Array, void, undefined> {
  for (const chunk of chunks) {
    const bytes = await blobs.read(chunk);
    if (bytes === undefined) throw areMissing([chunk]);
    try {
      for await (const piece of bytes) {
        signal.throwIfAborted();
        yield piece;
      }
    } catch (cause) {
      if (!(cause instanceof Fault) || cause.code !== "data_loss") throw cause;
      throw areMissing([chunk]);
    }
  }
}

function isMissing(blob: Digest): Fault {
  return new Fault("not_found", `${digestKey(blob)} is not in the store`);
}

function areMissing(chunks: readonly Digest[]): Fault {
  const more = chunks.length - namedChunks;
  const named = chunks.slice(0, namedChunks).map(digestKey).join(", ");
  return new Fault(
    "not_found",
    `${chunks.length} ${chunks.length === 1 ? "chunk is" : "chunks are"} not here: ${named}${more > 0 ? ` and ${more} more` : ""}; upload first`,
  );
}
