import type { BlobStorage } from "./blob-storage.ts";
import { openDiskStorage } from "./disk/disk-storage.ts";

/** The kind and location of a storage. */
type StorageLocation = {
  readonly kind: "disk";
  readonly directory: string;
  /** Whether writes wait until they are on the disk. */
  readonly isDurable?: boolean;
};

/** Opens the storage of a server. Only this function chooses an implementation. */
export function openBlobStorage(location: StorageLocation): Promise<BlobStorage> {
  switch (location.kind) {
    case "disk":
      return openDiskStorage(location.directory, location.isDurable);
  }
}
