import { Fault } from "#core/fault.ts";
import type { ServerConfig } from "#server/config.ts";

/** Throws when the blobs of the farm are in a bucket: a backup without them would look complete. */
export function requireDirectoryOfBlobs({ bucket }: Pick<ServerConfig, "bucket">): void {
  if (bucket === undefined) return;
  throw new Fault(
    "failed_precondition",
    "the blobs of this farm are in a bucket (GRANGE_STORE), and backups contain blobs of directories only. " +
      "Back up the database with pg_dump, copy farm.key and secrets.key, and use the versions or the replication of the bucket",
  );
}
