import { setImmediate } from "node:timers/promises";
import { spanIn } from "#cas/byte-span.ts";
import { digestOf } from "#cas/digest-of.ts";
import { diskFault } from "#cas/disk/disk-fault.ts";
import { assertBytesMatch, matchingBytes } from "#cas/matching-bytes.ts";
import {
  Digest,
  type Digest as DigestOf,
  digestKey,
  functionOf,
  isEmptyDigest,
} from "#core/digest.ts";
import type { CheckedBlobs } from "./checked-blobs.ts";
import type { Pack } from "./pack.ts";

/**
 * The size of blobs that caches return in one piece. Larger blobs are files, and so are blobs that tools get links to.
 */
export const packedUpToBytes = 256 * 1024;

/** This number takes about 0.5 ms. */
const checksPerTurn = 500;

interface PackedBlobsOptions {
  /** The path of the store, for messages. */
  readonly directory: string;
  readonly pack: Pack;
  readonly files: CheckedBlobs;
  /** Returns whether memory knows a file of that blob; it is called before the disk is checked. */
  readonly isFile: (digest: DigestOf) => boolean;
  readonly mostBytes: number;
  readonly trustDisk: boolean;
  readonly onHere: () => void;
  readonly onRotten: (digest: DigestOf) => void;
  readonly makeRoom: (reason: unknown) => Promise<boolean>;
}

/** A store whose small blobs are in a pack, and become files when a caller needs one. */
interface PackedBlobs extends CheckedBlobs {
  /** Makes a present blob a file at its `path`; returns false when it is absent. */
  asFile(digest: DigestOf): Promise<boolean>;
}

export function packedBlobs(options: PackedBlobsOptions): PackedBlobs {
  const { directory, pack, files, isFile, mostBytes, trustDisk, onHere, onRotten, makeRoom } =
    options;

  const isPacked = (digest: DigestOf) =>
    digest.sizeBytes <= mostBytes && pack.sizeOf("blob", digest.hash) === digest.sizeBytes;

  /** Returns the bytes, hashed each time: that is faster than checking the times of files. */
  function bytesOf(digest: DigestOf): Uint8Array | undefined {
    if (!isPacked(digest)) return undefined;
    const bytes = pack.read("blob", digest.hash);
    const isRight = () => bytes && digestOf(bytes, functionOf(digest)).hash === digest.hash;
    if (bytes !== undefined && (trustDisk || isRight())) {
      pack.noteUse("blob", digest.hash);
      return bytes;
    }
    pack.remove("blob", digest.hash);
    onRotten(digest);
    return undefined;
  }

  async function keep(digest: DigestOf, bytes: Uint8Array): Promise<void> {
    if (look(digest, true)) return;
    const put = () => pack.put("blob", digest.hash, bytes);
    try {
      put();
    } catch (reason) {
      if (!(await makeRoom(reason))) throw diskFault(reason, directory);
      try {
        put();
      } catch (again) {
        throw diskFault(again, directory);
      }
    }
    onHere();
  }

  function look(digest: DigestOf, isUse = false): boolean {
    if (!isPacked(digest)) return isFile(digest) && files.look(digest, isUse);
    if (isUse) pack.noteUse("blob", digest.hash);
    return true;
  }

  async function asFile(digest: DigestOf): Promise<boolean> {
    if (!isPacked(digest)) return look(digest, true);
    const bytes = bytesOf(digest);
    if (bytes === undefined) return false;
    await files.put(digest, bytes);
    // One copy is enough. Readers that have started already have its bytes.
    pack.remove("blob", digest.hash);
    return true;
  }

  return {
    ...files,
    look,
    asFile,
    async isSound(digest, path) {
      if (path === undefined && isPacked(digest) && !(await asFile(digest))) return false;
      return files.isSound(digest, path);
    },
    async get(digest) {
      return bytesOf(digest) ?? (isFile(digest) ? files.get(digest) : undefined);
    },
    async read(digest, range) {
      const span = spanIn(digest, range);
      const bytes = bytesOf(digest);
      if (bytes === undefined) return isFile(digest) ? files.read(digest, range) : undefined;
      return onlyOnce(bytes.subarray(span.start, span.end));
    },
    async put(digest, bytes) {
      if (digest.sizeBytes > mostBytes || isEmptyDigest(digest)) return files.put(digest, bytes);
      await assertBytesMatch(digest, bytes, "invalid_argument");
      await keep(digest, bytes);
    },
    async write(digest, chunks) {
      if (digest.sizeBytes > mostBytes || isEmptyDigest(digest)) return files.write(digest, chunks);
      await keep(digest, await inOnePiece(digest, chunks));
    },
    async take(chunks) {
      const first = await upTo(mostBytes, chunks);
      if (first.rest !== undefined) return files.take(first.rest);
      const bytes = Buffer.concat(first.parts);
      const digest = digestOf(bytes);
      if (!isEmptyDigest(digest)) await keep(digest, bytes);
      return digest;
    },
    async withHash(hash) {
      const sizeBytes = pack.sizeOf("blob", hash);
      if (sizeBytes !== undefined) return Digest.parse({ hash, sizeBytes });
      return files.withHash(hash);
    },
    findMissing: (digests) => missingOf(digests, (digest) => look(digest, true)),
    async remove(digest) {
      pack.remove("blob", digest.hash);
      await files.remove(digest);
    },
  };
}

/** Returns the absent digests, each once. Lets other work run between two portions. */
async function missingOf(
  digests: readonly DigestOf[],
  isHere: (digest: DigestOf) => boolean,
): Promise<DigestOf[]> {
  const missing: DigestOf[] = [];
  const distinct = new Map(digests.map((digest) => [digestKey(digest), digest]));
  let looks = 0;
  for (const digest of distinct.values()) {
    if (!isHere(digest)) missing.push(digest);
    if (++looks % checksPerTurn === 0) await setImmediate();
  }
  return missing;
}

/** Returns the bytes of a blob. Throws `invalid_argument` when they do not match its digest. */
async function inOnePiece(digest: DigestOf, chunks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for await (const chunk of matchingBytes(digest, chunks, "invalid_argument")) parts.push(chunk);
  return Buffer.concat(parts);
}

async function* onlyOnce(bytes: Uint8Array): AsyncGenerator<Uint8Array, void, undefined> {
  if (bytes.byteLength > 0) yield bytes;
}

/**
 * Returns the chunks if they are no larger than the limit; otherwise `rest` gives all of them, including those that
 * were read.
 */
async function upTo(
  mostBytes: number,
  chunks: AsyncIterable<Uint8Array>,
): Promise<{ readonly parts: Uint8Array[]; readonly rest?: AsyncIterable<Uint8Array> }> {
  const parts: Uint8Array[] = [];
  const source = chunks[Symbol.asyncIterator]();
  let bytes = 0;
  for (;;) {
    const next = await source.next();
    if (next.done) return { parts };
    parts.push(next.value);
    bytes += next.value.byteLength;
    if (bytes > mostBytes) break;
  }
  async function* all() {
    try {
      yield* parts.splice(0);
      for (let next = await source.next(); !next.done; next = await source.next()) yield next.value;
    } finally {
      await source.return?.();
    }
  }
  return { parts: [], rest: all() };
}
