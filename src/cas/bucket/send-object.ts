import type { FairGate } from "#core/fair-gate.ts";
import { Fault } from "#core/fault.ts";
import type { BlobIndex } from "./blob-index.ts";
import type { S3Bucket, SentPart } from "./s3-bucket.ts";

/** Up to this size, a blob is one request. Larger ones are sent in parts of this size or more. In bytes. */
export const partBytes = 8 * 1024 * 1024;
/** The limit of S3. */
const mostParts = 10_000;

/** Where the bytes of an object come from. They may still arrive while the first parts are sent. */
interface ObjectSource {
  /** For fairness: the sender of one large object does not delay others. */
  readonly key: string;
  readonly sizeBytes: number;
  /** Returns bytes that have arrived. */
  read(start: number, length: number): Promise<Uint8Array>;
}

interface ObjectSender {
  /** So many bytes can be read now. */
  grew(sizeBytes: number): void;
  /** Call it when all bytes can be read. Resolves when the bucket has the object. */
  finish(): Promise<void>;
  /** Removes what was sent. */
  abandon(): Promise<void>;
}

/**
 * Sends an object, part by part as its bytes arrive.
 *
 * A part is in memory only while it is sent, and `gate` limits how many are, among all objects: a client that sends
 * slowly occupies no memory.
 */
export function sendObject(
  {
    bucket,
    index,
    gate,
  }: {
    readonly bucket: S3Bucket;
    readonly index: Pick<BlobIndex, "addUnnamed" | "noteParts">;
    readonly gate: FairGate;
  },
  source: ObjectSource,
): ObjectSender {
  const { key, sizeBytes } = source;
  const stopping = new AbortController();
  const isWhole = sizeBytes <= partBytes;
  const eachBytes = Math.max(partBytes, Math.ceil(sizeBytes / mostParts));
  const sending: Promise<SentPart>[] = [];
  let upload: Promise<string> | undefined;
  let begunBytes = 0;
  let failure: { readonly reason: unknown } | undefined;

  async function begin(): Promise<string> {
    await index.addUnnamed(key);
    const id = await bucket.beginParts(key);
    await index.noteParts(key, id);
    return id;
  }

  function sendPart(start: number, end: number): Promise<SentPart> {
    const number = sending.length + 1;
    upload ??= begin();
    const id = upload;
    const work = async () => {
      const into = await id;
      return gate.through(
        key,
        async () => bucket.sendPart(key, into, number, await source.read(start, end - start)),
        stopping.signal,
      );
    };
    const sent = work();
    // `finish` reports the first failure, which stops the other parts.
    sent.catch((reason: unknown) => {
      failure ??= { reason };
      stopping.abort(reason);
    });
    return sent;
  }

  function sendUpTo(bytes: number): void {
    while (begunBytes < bytes) {
      const end = Math.min(begunBytes + eachBytes, sizeBytes);
      if (end > bytes || stopping.signal.aborted) return;
      sending.push(sendPart(begunBytes, end));
      begunBytes = end;
    }
  }

  return {
    grew(bytes) {
      if (!isWhole) sendUpTo(bytes);
    },

    async finish() {
      if (isWhole) {
        await index.addUnnamed(key);
        await gate.through(key, async () => bucket.put(key, await source.read(0, sizeBytes)));
        return;
      }
      sendUpTo(sizeBytes);
      // None may still read from a file that the caller closes.
      await Promise.allSettled(sending);
      if (failure !== undefined) throw failure.reason;
      const parts = await Promise.all(sending);
      if (upload === undefined) throw new Error("an object in parts has no part");
      await bucket.joinParts(key, await upload, parts, sizeBytes);
    },

    async abandon() {
      stopping.abort(new Fault("aborted", "the blob was not stored"));
      await Promise.allSettled(sending);
      const id = await upload?.catch(() => undefined);
      if (id !== undefined) await bucket.abandonParts(key, id);
    },
  };
}
