import { createReadStream } from "node:fs";
import { readFile } from "node:fs/promises";
import type { BlobStore } from "#cas/blob-store.ts";
import { spanIn } from "#cas/byte-span.ts";
import { type Digest, digestKey } from "#core/digest.ts";

/** A blob store that also serves files of a checkout from their place, without a copy. */
export interface CheckoutBlobs extends BlobStore {
  /** Serves a blob from a file. Readers check its bytes, because the file may change meanwhile. */
  serve(digest: Digest, path: string): void;
}

/** Serves files of a checkout in front of a store, which handles all other blobs. */
export function checkoutBlobs(base: BlobStore): CheckoutBlobs {
  const paths = new Map<string, string>();
  const pathOf = (digest: Digest) => paths.get(digestKey(digest));
  return {
    serve: (digest, path) => void paths.set(digestKey(digest), path),

    async get(digest) {
      const path = pathOf(digest);
      return path === undefined ? base.get(digest) : readFile(path);
    },

    async read(digest, range) {
      const path = pathOf(digest);
      if (path === undefined) return base.read(digest, range);
      const { start, end } = spanIn(digest, range);
      return start === end ? nothing() : createReadStream(path, { start, end: end - 1 });
    },

    put: (digest, bytes) => base.put(digest, bytes),
    write: (digest, chunks) => base.write(digest, chunks),
    findMissing: (digests) => base.findMissing(digests.filter((each) => !pathOf(each))),
  };
}

async function* nothing(): AsyncGenerator<Uint8Array, void, undefined> {}
