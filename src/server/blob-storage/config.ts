import { resolve } from "node:path";
import { z } from "zod";
import { type BucketLocation, parseStoreUrl } from "#cas/bucket/bucket-location.ts";
import { parseMemorySize } from "#core/memory-size.ts";

/** The settings of a store in a bucket. */
export interface BucketConfig {
  readonly location: BucketLocation;
  /** The limit of the copies on this server's disk; undefined: three quarters of the disk. In bytes. */
  readonly cacheBytes: number | undefined;
}

const leastCacheBytes = 64 * 1024 ** 2;

export const bucketConfig = z
  .object({
    url: z.string(),
    endpoint: z
      .url({
        protocol: /^https?$/,
        error: "GRANGE_STORE_ENDPOINT must be an address of http or https",
      })
      .transform((url) => new URL(url))
      .optional(),
    region: z.string().min(1).default("us-east-1"),
    credentialsFile: z.string().min(1).optional(),
    accessKeyId: z.string().min(1).optional(),
    secretAccessKey: z.string().min(1).optional(),
    sessionToken: z.string().min(1).optional(),
    cache: z.string().optional(),
  })
  .transform((given, context): BucketConfig => {
    const refuse = (problem: string) => {
      context.addIssue(problem);
      return z.NEVER;
    };
    const place = parseStoreUrl(given.url);
    if (place === undefined)
      return refuse("GRANGE_STORE must be s3://BUCKET or s3://BUCKET/PREFIX");
    const credentials = credentialsOf(given);
    if (credentials === undefined)
      return refuse(
        "the bucket needs credentials: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or a file in GRANGE_STORE_CREDENTIALS",
      );
    const cacheBytes = given.cache === undefined ? undefined : (parseMemorySize(given.cache) ?? 0);
    if (cacheBytes !== undefined && cacheBytes < leastCacheBytes)
      return refuse(
        "GRANGE_STORE_CACHE must be an amount of storage of at least 64M, such as 200G",
      );
    const { endpoint, region } = given;
    return { location: { ...place, endpoint, region, credentials }, cacheBytes };
  });

function credentialsOf(given: {
  readonly credentialsFile?: string | undefined;
  readonly accessKeyId?: string | undefined;
  readonly secretAccessKey?: string | undefined;
  readonly sessionToken?: string | undefined;
}): BucketLocation["credentials"] | undefined {
  const { credentialsFile, accessKeyId, secretAccessKey, sessionToken } = given;
  if (credentialsFile !== undefined) return { kind: "file", path: resolve(credentialsFile) };
  if (accessKeyId === undefined || secretAccessKey === undefined) return undefined;
  return { kind: "given", accessKeyId, secretAccessKey, sessionToken };
}

/** Reads the settings from the environment. Returns undefined without a bucket: then blobs are on the disk. */
export function readBucketConfig(
  env: NodeJS.ProcessEnv = process.env,
  url: string | undefined = env["GRANGE_STORE"],
): z.input<typeof bucketConfig> | undefined {
  if (!url) return undefined;
  return {
    url,
    endpoint: env["GRANGE_STORE_ENDPOINT"] || undefined,
    region: env["GRANGE_STORE_REGION"] || env["AWS_REGION"] || undefined,
    credentialsFile: env["GRANGE_STORE_CREDENTIALS"] || undefined,
    accessKeyId: env["AWS_ACCESS_KEY_ID"] || undefined,
    secretAccessKey: env["AWS_SECRET_ACCESS_KEY"] || undefined,
    sessionToken: env["AWS_SESSION_TOKEN"] || undefined,
    cache: env["GRANGE_STORE_CACHE"] || undefined,
  };
}
