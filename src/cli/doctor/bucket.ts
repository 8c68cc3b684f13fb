import { z } from "zod";
import { locationText } from "#cas/bucket/bucket-location.ts";
import { messageOf } from "#core/fault.ts";
import { type BucketConfig, bucketConfig } from "#server/blob-storage/config.ts";
import { tryBucket } from "#server/check-settings.ts";
import { type Check, type Finding, fail, ok } from "./check.ts";

/** The settings of a bucket, before they are checked. */
export type BucketSettings = z.input<typeof bucketConfig>;

/** Checks the bucket that the variables of a server name. */
export function bucketChecks(settings: BucketSettings): Check[] {
  return [
    bucketCheck(async (find) => {
      const parsed = bucketConfig.safeParse(settings);
      return parsed.success ? find(parsed.data) : fail(z.prettifyError(parsed.error));
    }),
  ];
}

/** Checks what a server needs to do with its bucket. */
export function bucketCheck(
  withBucket: (find: (bucket: BucketConfig) => Promise<Finding>) => Promise<Finding>,
): Check {
  return {
    name: "rights",
    needs: "The server may write, read and remove objects in the bucket",
    fix: "Correct GRANGE_STORE, GRANGE_STORE_ENDPOINT, GRANGE_STORE_REGION or the credentials, or what they may do",
    run: () =>
      withBucket(async (bucket) => {
        try {
          await tryBucket(bucket);
          return ok(`an object was written, read and removed in ${locationText(bucket.location)}`);
        } catch (reason) {
          return fail(messageOf(reason));
        }
      }),
  };
}
