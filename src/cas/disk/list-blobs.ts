import { existsSync } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { type Digest, isEmptyDigest } from "#core/digest.ts";
import { type Namespace, ownNamespace } from "../namespaces/namespace.ts";
import { digestOfFile, diskLayout } from "./disk-layout.ts";
import { namespacesIn } from "./namespaces-in.ts";

/** A blob in a directory, as its file is named: its bytes are not checked. */
interface BlobFile {
  readonly namespace: Namespace;
  readonly digest: Digest;
  readonly lastUsedAt: Date;
}

/** The first two digits of the hashes of blobs; a directory of each has the blobs with them. */
export const shards: readonly string[] = Array.from({ length: 256 }, (_, n) =>
  n.toString(16).padStart(2, "0"),
);

const listedAtOnce = 256;

/** Returns the blobs of all projects whose hash begins with the shard's digits, some at a time. */
export async function* blobsOfShard(
  store: string,
  shard: string,
): AsyncGenerator<BlobFile[], void, undefined> {
  let some: BlobFile[] = [];
  for (const namespace of [ownNamespace, ...(await namespacesIn(store))]) {
    const directory = join(diskLayout(join(store, namespace)).blobs, shard);
    if (!existsSync(directory)) continue;
    for (const name of await readdir(directory)) {
      const file = await stat(join(directory, name)).catch(() => undefined);
      const digest = file && digestOfFile(name, file.size);
      if (file === undefined || digest === undefined || isEmptyDigest(digest)) continue;
      some.push({ namespace, digest, lastUsedAt: file.atime });
      if (some.length < listedAtOnce) continue;
      yield some;
      some = [];
    }
  }
  if (some.length > 0) yield some;
}
