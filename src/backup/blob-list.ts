import { createReadStream } from "node:fs";
import { pipeline } from "node:stream";
import { createGunzip } from "node:zlib";
import { z } from "zod";
import { Namespace } from "#cas/namespaces/namespace.ts";
import { Digest } from "#core/digest.ts";
import { Fault } from "#core/fault.ts";

/** A blob of a store, as listed in a backup. */
export interface ListedBlob {
  readonly namespace: Namespace;
  readonly digest: Digest;
  /** In whole seconds. Eviction uses it, so a restored store has the same eviction order. */
  readonly lastUsedAt: Date;
}

/**
 * Returns one line of the list: hash, size in bytes, last use in seconds since 1970, and the namespace, which may be
 * empty.
 */
export function blobLine({ namespace, digest, lastUsedAt }: ListedBlob): string {
  const seconds = Math.floor(lastUsedAt.getTime() / 1_000);
  return `${digest.hash} ${digest.sizeBytes} ${seconds} ${namespace}\n`;
}

/** A namespace becomes part of a path, so it must not lead out of the store, even if the list was altered. */
const SafeNamespace = z
  .string()
  .regex(/^(?:projects\/[a-z0-9-]+)?$/)
  .pipe(Namespace);

export function parseBlobLine(line: string): ListedBlob {
  const [hash, size, seconds, namespace] = line.split(" ");
  const digest = Digest.safeParse({ hash, sizeBytes: Number(size) });
  const place = SafeNamespace.safeParse(namespace);
  if (!digest.success || !place.success || !/^\d{1,12}$/.test(seconds ?? "")) {
    throw new Fault(
      "data_loss",
      `the backup's list of blobs has an illegal line: ${line.slice(0, 200)}`,
    );
  }
  const lastUsedAt = new Date(Number(seconds) * 1_000);
  return { namespace: place.data, digest: digest.data, lastUsedAt };
}

/** Reads a list line by line; of a million blobs, only some hundred are in memory. */
export async function* readBlobList(path: string): AsyncGenerator<ListedBlob, void, undefined> {
  const unpacked = createGunzip().setEncoding("utf8");
  // The loop below throws its errors.
  pipeline(createReadStream(path), unpacked, () => {});
  let rest = "";
  for await (const chunk of unpacked) {
    const lines = `${rest}${String(chunk)}`.split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) yield parseBlobLine(line);
  }
  if (rest !== "") throw new Fault("data_loss", `the backup's list of blobs ${path} is cut off`);
}
