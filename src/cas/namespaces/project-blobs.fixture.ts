import { systemClock } from "#core/clock.ts";
import { openBlobStorage } from "../open-blob-storage.ts";
import { openProjectBlobs } from "./project-blobs.ts";

/** Blobs of projects in a directory, where nothing is expected to rot. */
export async function projectBlobsIn(directory: string) {
  return openProjectBlobs({
    storage: await openBlobStorage({ kind: "disk", directory }),
    clock: systemClock,
    existence: { ttlMs: 60_000, limit: 1_000 },
    isCorrupt: () => {},
  });
}
