import { z } from "zod";
import { Fault } from "#core/fault.ts";
import { ownerKey } from "./object-keys.ts";
import type { S3Bucket } from "./s3-bucket.ts";

/** Returns the farm that owns a store in a bucket; undefined when it has no owner. */
export async function readBucketOwner(bucket: S3Bucket): Promise<string | undefined> {
  const found = await bucket.get(ownerKey);
  if (found === undefined) return undefined;
  const id = z.uuid().safeParse(found.toString("utf8").trim());
  if (id.success) return id.data;
  throw new Fault(
    "failed_precondition",
    `the object ${ownerKey} of ${bucket.place} does not contain the id of a farm. Delete it, and start again`,
  );
}
