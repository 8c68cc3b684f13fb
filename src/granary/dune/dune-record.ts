import { z } from "zod";
import type { ResultKey } from "#commit-index/result-key.ts";
import { Digest } from "#core/digest.ts";
import { Fault } from "#core/fault.ts";
import { DuneDigest } from "./dune-digest.ts";
import { isInside } from "./dune-protocol.ts";
import { DuneScheme } from "./dune-store.ts";

const RecordedFile = z.object({
  path: z.string().refine(isInside, "a path leaves the build directory"),
  duneDigest: DuneDigest,
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  size: z.number().int().nonnegative(),
  executable: z.boolean(),
});
export type RecordedFile = z.infer<typeof RecordedFile>;

/**
 * The stored form of a dune rule: names and digests; the files are blobs. The commit that dune stores with them is left
 * out, so that a rule that is made twice has the same result.
 */
const DuneRecord = z.object({ files: z.array(RecordedFile).min(1).max(100_000) });

export function duneKey(scheme: DuneScheme, key: DuneDigest): ResultKey {
  return { namespace: "dune", key: `${scheme}/${key}` };
}

/** Returns undefined when it is not a key of a dune rule. */
export function readDuneKey(
  key: ResultKey,
): { readonly scheme: DuneScheme; readonly key: DuneDigest } | undefined {
  const [scheme, hex, ...more] = key.key.split("/");
  const known = DuneScheme.find((one) => one === scheme);
  const digest = DuneDigest.safeParse(hex).data;
  if (key.namespace !== "dune" || known === undefined || digest === undefined || more.length > 0) {
    return undefined;
  }
  return { scheme: known, key: digest };
}

export function encodeRecord(files: readonly RecordedFile[]): Buffer {
  return Buffer.from(JSON.stringify({ files }));
}

/** Reads a record. Throws `data_loss` for an invalid one: its writer is not trusted. */
export function readRecord(bytes: Uint8Array): readonly RecordedFile[] {
  try {
    return DuneRecord.parse(JSON.parse(Buffer.from(bytes).toString("utf8"))).files;
  } catch (cause) {
    throw new Fault("data_loss", "this is not a record of a rule of dune", { cause });
  }
}

export function blobOf({ sha256, size }: RecordedFile): Digest {
  return Digest.parse({ hash: sha256, sizeBytes: size });
}
