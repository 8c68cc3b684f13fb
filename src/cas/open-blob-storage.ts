import type { BlobStorage } from "./blob-storage.ts";
import { openDiskStorage } from "./disk/disk-storage.ts";

/** Which storage, and where. */
type StorageLocation = {
  readonly kind: "disk";
  readonly directory: string;
  /** Writes wait for the disk. */
  readonly isDurable?: boolean;
};

/** Opens the storage of a server. The one place that chooses an implementation. */
export function openBlobStorage(location: StorageLocation): Promise<BlobStorage> {
  switch (location.kind) {
    case "disk":
      return openDiskStorage(location.directory, location.isDurable);
  }
}
