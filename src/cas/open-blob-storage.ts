import type { BlobStorage } from "./blob-storage.ts";
import type { BucketLocation } from "./bucket/bucket-location.ts";
import { type BucketStorageOptions, openBucketStorage } from "./bucket/bucket-storage.ts";
import { openS3Bucket } from "./bucket/s3-bucket.ts";
import { openDiskStorage } from "./disk/disk-storage.ts";

/** The kind and location of a storage. */
type StorageLocation =
  | {
      readonly kind: "disk";
      readonly directory: string;
      /** Whether writes wait until they are on the disk. */
      readonly isDurable?: boolean;
    }
  | ({ readonly kind: "bucket"; readonly location: BucketLocation } & Omit<
      BucketStorageOptions,
      "bucket"
    >);

/** Opens the storage of a server. Only this function chooses an implementation. */
export function openBlobStorage(location: StorageLocation): Promise<BlobStorage> {
  switch (location.kind) {
    case "disk":
      return openDiskStorage(location.directory, location.isDurable);
    case "bucket":
      return openBucketStorage({ ...location, bucket: openS3Bucket(location.location) });
  }
}
