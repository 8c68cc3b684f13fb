import { open, rm } from "node:fs/promises";
import type { BlobReceiver } from "#images/blob-progress.ts";

/** Writes a blob to a new file. */
export async function blobFile(path: string): Promise<BlobReceiver<void>> {
  const file = await open(path, "wx", 0o600);
  return {
    write: (part) => file.writeFile(part),
    end: () => file.close(),
    abandon: async () => {
      await file.close();
      await rm(path, { force: true });
    },
  };
}
