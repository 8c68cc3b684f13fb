import { type Digest, digestKey, isEmptyDigest } from "#core/digest.ts";
import { Fault } from "#core/fault.ts";
import type { BlobStore, ByteRange } from "../blob-store.ts";
import { spanIn } from "../byte-span.ts";
import type { DiskBlobStore } from "../disk/disk-blob-store.ts";
import { assertBytesMatch } from "../matching-bytes.ts";
import type { Namespace } from "../namespaces/namespace.ts";
import type { IndexedBlob } from "./blob-index.ts";
import type { BucketParts } from "./bucket-blobs.ts";
import { fetchObject } from "./fetch-object.ts";
import { partBytes } from "./send-object.ts";

/** How long a copy that was read counts as used, without another write to its file's times. */
const usedForMs = 10 * 60_000;
const rememberedUses = 50_000;
/** Up to this size, many blobs are fetched at the same time. In bytes. */
const smallBytes = 1024 * 1024;

/**
 * Reads blobs from the copies on the disk, and from the bucket what the disk lacks.
 *
 * Bytes from the bucket are compared with their digest before they become a copy.
 */
export function bucketReads(
  { bucket, index, gate, smallGate, cached, onLost }: BucketParts,
  namespace: Namespace,
  disk: DiskBlobStore,
): Pick<BlobStore, "get" | "read"> & { remove(digest: Digest): Promise<void> } {
  /** Blobs on their way to the disk: several readers of one wait for the same transfer. */
  const fetching = new Map<string, Promise<boolean>>();
  const fetchingSmall = new Map<string, Promise<Uint8Array | undefined>>();
  const usedAtMs = new Map<string, number>();

  /** Records that a copy is used, so that it is trimmed later. */
  async function noteUse(digest: Digest): Promise<void> {
    const usedAt = usedAtMs.get(digest.hash) ?? Number.NEGATIVE_INFINITY;
    if (performance.now() - usedAt < usedForMs) return;
    rememberUse(digest);
    await disk.findMissing([digest]);
  }

  function rememberUse(digest: Digest): void {
    usedAtMs.delete(digest.hash);
    usedAtMs.set(digest.hash, performance.now());
    const [oldest] = usedAtMs.keys();
    if (usedAtMs.size > rememberedUses && oldest !== undefined) usedAtMs.delete(oldest);
  }

  /** A new file counts as used now. */
  function noteCopy(digest: Digest): void {
    rememberUse(digest);
    cached(digest.sizeBytes);
  }

  /** The bucket has no object of the blob, or a corrupt one: nobody may be told that the blob exists. */
  async function dropLost(blob: IndexedBlob): Promise<void> {
    const object = await index.remove(namespace, blob.digest, { object: blob.object });
    // Another process has removed it, or stored the blob again.
    if (object === undefined) return;
    onLost(blob.digest);
    await bucket.remove(object);
    await index.forgetUnnamed([object]);
  }

  /** Returns the blob; undefined when it is absent. Throws `data_loss` when its object is corrupt. */
  async function fetchSmall(blob: IndexedBlob): Promise<Uint8Array | undefined> {
    const { digest, object } = blob;
    const place = digest.sizeBytes <= smallBytes ? smallGate : gate;
    const bytes = await place.through(object, () =>
      bucket.get(object, { start: 0, length: digest.sizeBytes }),
    );
    if (bytes === undefined) {
      await dropLost(blob);
      return undefined;
    }
    await assertBytesMatch(digest, bytes, "data_loss");
    // The disk is only a cache: a full one must not fail the call.
    await disk.put(digest, bytes).then(
      () => noteCopy(digest),
      () => {},
    );
    return bytes;
  }

  /**
   * Returns a blob of one part. Readers at the same time share the whole way, from its lookup on, and must not change the
   * bytes.
   */
  async function fetchSmallOnce(
    digest: Digest,
    find: () => Promise<IndexedBlob | undefined>,
  ): Promise<Uint8Array | undefined> {
    const key = digestKey(digest);
    const bytes = await fetchingSmall.get(key);
    // A lookup that began earlier may not know a blob that was stored since. One that is under way now does.
    return bytes ?? fetchingSmall.get(key) ?? startSmall(key, find);
  }

  function startSmall(
    key: string,
    find: () => Promise<IndexedBlob | undefined>,
  ): Promise<Uint8Array | undefined> {
    const fetch = async () => {
      const blob = await find();
      return blob && orDrop(blob, () => fetchSmall(blob));
    };
    const fetched = fetch().finally(() => fetchingSmall.delete(key));
    fetchingSmall.set(key, fetched);
    return fetched;
  }

  /** Copies a blob to the disk; returns false when the disk has no room. */
  async function fetchToDisk({ digest, object }: IndexedBlob): Promise<boolean> {
    const chunks = fetchObject({ bucket, gate }, object, spanIn(digest, undefined));
    try {
      await disk.write(digest, chunks);
      noteCopy(digest);
      return true;
    } catch (reason) {
      if (!(reason instanceof Fault)) throw reason;
      if (reason.code === "resource_exhausted") return false;
      if (reason.code !== "invalid_argument") throw reason;
      throw new Fault("data_loss", reason.message, { cause: reason });
    }
  }

  function fetchOnce(blob: IndexedBlob): Promise<boolean> {
    const key = digestKey(blob.digest);
    const known = fetching.get(key);
    if (known !== undefined) return known;
    const fetched = fetchToDisk(blob).finally(() => fetching.delete(key));
    fetching.set(key, fetched);
    return fetched;
  }

  /** Removes a blob whose object is corrupt, and one whose object is absent. */
  async function orDrop<T>(blob: IndexedBlob, read: () => Promise<T>): Promise<T> {
    try {
      return await read();
    } catch (reason) {
      const isLost = reason instanceof Fault && ["data_loss", "not_found"].includes(reason.code);
      if (isLost) await dropLost(blob);
      throw reason;
    }
  }

  async function* fetched(blob: IndexedBlob, range: ByteRange | undefined) {
    const { digest, object } = blob;
    const { start, end } = spanIn(digest, range);
    if (start === end) return;
    if (digest.sizeBytes <= partBytes) {
      const bytes = await fetchSmallOnce(digest, async () => blob);
      if (bytes === undefined) throw gone(digest);
      yield bytes.subarray(start, end);
      return;
    }
    if (await orDrop(blob, () => fetchOnce(blob))) {
      const copy = await disk.read(digest, range);
      if (copy !== undefined) {
        yield* copy;
        return;
      }
    }
    yield* fetchObject({ bucket, gate }, object, { start, end });
  }

  /** Reads a copy. When it is removed before the first chunk, reads from the bucket. */
  async function* fromDisk(
    digest: Digest,
    range: ByteRange | undefined,
    copy: AsyncIterable<Uint8Array>,
  ) {
    let isBegun = false;
    try {
      for await (const chunk of copy) {
        isBegun = true;
        yield chunk;
      }
      return;
    } catch (reason) {
      if (isBegun || !(reason instanceof Fault) || reason.code !== "not_found") throw reason;
    }
    const blob = await index.find(namespace, digest);
    if (blob === undefined) throw gone(digest);
    yield* fetched(blob, range);
  }

  return {
    async get(digest) {
      if (isEmptyDigest(digest)) return new Uint8Array();
      const copy = await disk.get(digest);
      if (copy !== undefined) {
        await noteUse(digest);
        return copy;
      }
      const find = () => index.find(namespace, digest);
      if (digest.sizeBytes <= partBytes) return fetchSmallOnce(digest, find);
      const blob = await find();
      if (blob === undefined) return undefined;
      if (await orDrop(blob, () => fetchOnce(blob))) return disk.get(digest);
      throw new Fault("resource_exhausted", `the disk has no room for ${digestKey(digest)}`);
    },

    async read(digest, range) {
      spanIn(digest, range);
      if (isEmptyDigest(digest)) return noBytes();
      const copy = await disk.read(digest, range);
      if (copy !== undefined) {
        await noteUse(digest);
        return fromDisk(digest, range, copy);
      }
      const blob = await index.find(namespace, digest);
      return blob && fetched(blob, range);
    },

    /** Called for a blob with corrupt bytes. Bytes from the bucket were compared before, so only a copy can be corrupt. */
    remove: (digest) => disk.remove(digest),
  };
}

function gone(digest: Digest): Fault {
  return new Fault("not_found", `${digestKey(digest)} was removed before it was read`);
}

async function* noBytes(): AsyncGenerator<Uint8Array, void, undefined> {}
