import { systemClock } from "#core/clock.ts";
import { openBlobStorage } from "../open-blob-storage.ts";
import { openProjectBlobs } from "./project-blobs.ts";

/** Opens the blobs of projects in a directory, for tests that expect no corruption. */
export async function projectBlobsIn(directory: string) {
  return openProjectBlobs({
    storage: await openBlobStorage({ kind: "disk", directory }),
    clock: systemClock,
    existence: { ttlMs: 60_000, limit: 1_000 },
    isCorrupt: () => {},
  });
}
