import { type FileHandle, open, rm } from "node:fs/promises";
import { type Digest, digestKey, isEmptyDigest } from "#core/digest.ts";
import { Fault } from "#core/fault.ts";
import type { UnnamedBlobs } from "../blob-storage.ts";
import type { BlobStore } from "../blob-store.ts";
import { hashedOnTheWay, startDigest } from "../digest-of.ts";
import type { DiskBlobStore } from "../disk/disk-blob-store.ts";
import { type FileCopy, growing, type StartCopy } from "../disk/file-copy.ts";
import { assertBytesMatch, matchingBytes } from "../matching-bytes.ts";
import type { Namespace } from "../namespaces/namespace.ts";
import { tempFileIn } from "../temp-file.ts";
import { writeChunks } from "../write-chunks.ts";
import type { BucketParts } from "./bucket-blobs.ts";
import { newBlobKey } from "./object-keys.ts";
import { readExactly } from "./read-exactly.ts";
import { partBytes, sendObject } from "./send-object.ts";

/** Up to this size, a blob that arrives in chunks is collected in memory. */
const smallBytes = 1024 * 1024;

interface BucketWrites extends Pick<BlobStore, "put" | "write">, Pick<UnnamedBlobs, "take"> {
  /** For blobs whose files others write. */
  readonly startCopy: StartCopy;
}

/** Stores blobs in the bucket, and a copy of each on the disk. A write ends when bucket and index have the blob. */
export function bucketWrites(
  { bucket, index, gate, cached }: BucketParts,
  namespace: Namespace,
  disk: DiskBlobStore,
): BucketWrites {
  async function isKnown(digest: Digest): Promise<boolean> {
    return isEmptyDigest(digest) || (await index.use(namespace, [digest])).has(digestKey(digest));
  }

  /** Makes a complete object the blob. */
  async function nameObject(digest: Digest, object: string): Promise<void> {
    const result = await index.name(namespace, { digest, object });
    if (result === "named") return;
    if (result === "expired" || !(await isKnown(digest)))
      throw new Fault("unavailable", `${digestKey(digest)} was not stored in time; send it again`);
    // Another upload of the same bytes was faster. After a failure, the object is removed with the abandoned ones.
    await bucket
      .remove(object)
      .then(() => index.forgetUnnamed([object]))
      .catch(() => {});
  }

  const startCopy = (digest: Digest, file: Pick<FileHandle, "read">): FileCopy => {
    const key = newBlobKey(namespace, digest);
    const sender = sendObject(
      { bucket, index, gate },
      {
        key,
        sizeBytes: digest.sizeBytes,
        read: (start, length) => readExactly(file, start, length),
      },
    );
    return {
      grew: (bytes) => sender.grew(bytes),
      async finish() {
        // A blob of several parts is nearly sent by now.
        if (digest.sizeBytes <= partBytes && (await isKnown(digest))) return;
        await sender.finish();
        await nameObject(digest, key);
        cached(digest.sizeBytes);
      },
      abandon: () => sender.abandon(),
    };
  };

  async function putSmall(
    digest: Digest,
    bytes: Uint8Array,
    onWritten?: () => void,
  ): Promise<void> {
    if (isEmptyDigest(digest)) return;
    const object = newBlobKey(namespace, digest);
    if ((await index.begin(namespace, { digest, object })) === "known") return;
    let onCopied = () => {};
    const copied = new Promise<void>((resolve) => {
      onCopied = resolve;
    });
    const copying = disk
      .put(digest, bytes, onCopied)
      .then(
        () => cached(digest.sizeBytes),
        // The disk is only a cache: a full one must not fail the call.
        () => {},
      )
      .finally(onCopied);
    try {
      await bucket.put(object, bytes);
      if (onWritten !== undefined) {
        await copied;
        // What is left, the index does for many objects with one statement.
        onWritten();
      }
      await nameObject(digest, object);
    } finally {
      await copying;
    }
  }

  /** Writes a file that becomes a copy of the blob when the bucket has the blob. */
  async function writeFile(
    fill: (file: FileHandle) => Promise<{ readonly digest: Digest; readonly copy: FileCopy }>,
  ): Promise<Digest> {
    const aside = tempFileIn(disk.temp);
    const file = await open(aside, "wx+", 0o600);
    try {
      const { digest, copy } = await fill(file);
      await copy.finish().catch(async (reason: unknown) => {
        await copy.abandon().catch(() => {});
        throw reason;
      });
      await disk.keepFile(digest, file, aside);
      return digest;
    } catch (reason) {
      await file.close().catch(() => {});
      await rm(aside, { force: true });
      throw reason;
    }
  }

  async function writeLarge(digest: Digest, right: AsyncIterable<Uint8Array>): Promise<void> {
    await writeFile(async (file) => {
      const copy = startCopy(digest, file);
      try {
        await writeChunks(growing(file, 0, copy), right);
      } catch (reason) {
        await copy.abandon().catch(() => {});
        throw reason;
      }
      return { digest, copy };
    });
  }

  return {
    startCopy,

    async put(digest, bytes, onWritten) {
      await assertBytesMatch(digest, bytes, "invalid_argument");
      if (bytes.byteLength <= partBytes) return putSmall(digest, bytes, onWritten);
      if (!(await isKnown(digest))) await writeLarge(digest, oneChunk(bytes));
    },

    async write(digest, chunks) {
      const right = matchingBytes(digest, chunks, "invalid_argument");
      if (digest.sizeBytes <= smallBytes) {
        const parts: Uint8Array[] = [];
        for await (const chunk of right) parts.push(Uint8Array.from(chunk));
        await putSmall(digest, Buffer.concat(parts));
      } else if (await isKnown(digest)) {
        for await (const _ of right);
      } else await writeLarge(digest, right);
    },

    take: (chunks) =>
      writeFile(async (file) => {
        const running = startDigest();
        await writeChunks(file, hashedOnTheWay(chunks, running));
        const digest = running.digest();
        const copy = startCopy(digest, file);
        copy.grew(digest.sizeBytes);
        return { digest, copy };
      }),
  };
}

async function* oneChunk(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
