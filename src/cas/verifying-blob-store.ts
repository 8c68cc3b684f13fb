import { type Digest, digestKey } from "#core/digest.ts";
import { Fault } from "#core/fault.ts";
import type { BlobStore, ByteRange } from "./blob-store.ts";
import { isWhole } from "./byte-span.ts";
import { assertBytesMatch, matchingBytes } from "./matching-bytes.ts";

/** The number of digests that are cached as checked, for partial reads. */
const rememberedChecks = 10_000;

/**
 * Wraps a store so that no reader receives bytes that differ from their digest (P5).
 *
 * A part cannot be checked by itself, so the first read of a part reads the whole blob once. A corrupt blob is passed
 * to `onCorrupt`, which has to remove it, and the read fails with `data_loss`. From then on the blob is missing, and a
 * client can upload it again.
 */
export function verifying(
  base: BlobStore,
  onCorrupt: (digest: Digest) => Promise<void>,
): BlobStore {
  const checked = new Set<string>();
  /** Blobs that are verified at this moment: several readers of parts of one wait for the same reading. */
  const checking = new Map<string, Promise<boolean>>();

  async function orReport<T>(digest: Digest, check: () => Promise<T>): Promise<T> {
    try {
      return await check();
    } catch (reason) {
      if (reason instanceof Fault && reason.code === "data_loss") {
        checked.delete(digestKey(digest));
        await onCorrupt(digest);
      }
      throw reason;
    }
  }

  async function* whole(digest: Digest, chunks: AsyncIterable<Uint8Array>) {
    const right = matchingBytes(digest, chunks, "data_loss");
    try {
      while (true) {
        const { done, value } = await orReport(digest, () => right.next());
        if (done) return;
        yield value;
      }
    } finally {
      await right.return();
    }
  }

  /** Reads a whole blob only to verify it, unless it was; false when it is absent. */
  function checkOnce(digest: Digest): Promise<boolean> {
    const key = digestKey(digest);
    if (checked.has(key)) return Promise.resolve(true);
    const known = checking.get(key);
    if (known !== undefined) return known;
    const check = checkWhole(digest, key).finally(() => checking.delete(key));
    checking.set(key, check);
    return check;
  }

  async function checkWhole(digest: Digest, key: string): Promise<boolean> {
    if (!(await isThereIntact(digest))) return false;
    const [oldest] = checked;
    if (checked.size >= rememberedChecks && oldest !== undefined) checked.delete(oldest);
    checked.add(key);
    return true;
  }

  /** Throws `data_loss` for a corrupt blob, after it was passed on; false when the blob is absent. */
  async function isThereIntact(digest: Digest): Promise<boolean> {
    const { verify } = base;
    if (verify !== undefined) return orReport(digest, () => verify(digest));
    const chunks = await base.read(digest);
    if (chunks === undefined) return false;
    for await (const _ of whole(digest, chunks));
    return true;
  }

  async function readPart(digest: Digest, range: ByteRange | undefined) {
    return (await checkOnce(digest)) ? base.read(digest, range) : undefined;
  }

  return {
    put: (digest, bytes, onWritten) => base.put(digest, bytes, onWritten),
    write: (digest, chunks) => base.write(digest, chunks),
    findMissing: (digests) => base.findMissing(digests),

    async get(digest) {
      const bytes = await base.get(digest);
      if (bytes) await orReport(digest, () => assertBytesMatch(digest, bytes, "data_loss"));
      return bytes;
    },

    async read(digest, range) {
      if (!isWhole(digest, range)) return readPart(digest, range);
      const chunks = await base.read(digest);
      return chunks && whole(digest, chunks);
    },
  };
}
