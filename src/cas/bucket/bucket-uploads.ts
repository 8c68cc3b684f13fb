import { createHash } from "node:crypto";
import type { FairGate } from "#core/fair-gate.ts";
import type { DiskUploads } from "../disk/disk-uploads.ts";
import type { UploadStore } from "../upload-store.ts";
import type { BlobIndex } from "./blob-index.ts";
import { fetchObject } from "./fetch-object.ts";
import { newUploadKey } from "./object-keys.ts";
import { readExactly } from "./read-exactly.ts";
import type { S3Bucket } from "./s3-bucket.ts";
import { sendObject } from "./send-object.ts";

/** A shorter part is sent again by its client within moments. */
const leastKeptBytes = 256 * 1024;

/**
 * Uploads that continue at any server: when one breaks off, its received part is sent to the bucket, and the server at
 * which the client continues fetches it. A server that is killed keeps the part on its own disk only; elsewhere, the
 * client then begins again.
 */
export function bucketUploads(
  parts: { readonly bucket: S3Bucket; readonly index: BlobIndex; readonly gate: FairGate },
  uploads: Pick<DiskUploads, "openPart" | "keepPart">,
  local: Pick<UploadStore, "committed" | "receive">,
): Pick<UploadStore, "committed" | "receive"> {
  const { index } = parts;

  async function keep(name: string): Promise<void> {
    const file = await uploads.openPart(name);
    if (file === undefined) return;
    try {
      const { size } = await file.stat();
      if (size < leastKeptBytes) return;
      const object = newUploadKey();
      const sender = sendObject(parts, {
        key: object,
        sizeBytes: size,
        read: (at, length) => readExactly(file, at, length),
      });
      try {
        sender.grew(size);
        await sender.finish();
      } catch (reason) {
        await sender.abandon().catch(() => {});
        throw reason;
      }
      await index.keepUpload(keyOf(name), { object, sizeBytes: size });
    } finally {
      await file.close();
    }
  }

  /** Fetches what another server received. */
  async function bringHere(name: string, offset: number): Promise<void> {
    if ((await local.committed(name)) >= offset) return;
    const kept = await index.keptUpload(keyOf(name));
    if (kept === undefined || kept.sizeBytes < offset) return;
    await uploads.keepPart(name, fetchObject(parts, kept.object, { start: 0, end: offset }));
  }

  return {
    async committed(name) {
      const here = await local.committed(name);
      return here > 0 ? here : ((await index.keptUpload(keyOf(name)))?.sizeBytes ?? 0);
    },

    async receive(upload) {
      const { name, offset } = upload;
      if (offset > 0) await bringHere(name, offset);
      try {
        await local.receive(upload);
      } catch (reason) {
        // Without it, the upload continues only here.
        await keep(name).catch(() => {});
        throw reason;
      }
      if (offset > 0) await index.dropUpload(keyOf(name));
    },
  };
}

function keyOf(name: string): string {
  return createHash("sha256").update(name).digest("hex");
}
