import { readFile, stat } from "node:fs/promises";
import { Fault, messageOf } from "#core/fault.ts";

/** Where a bucket is, without the credentials. */
export interface BucketLocation {
  readonly bucket: string;
  /** The beginning of the keys of all objects: empty, or it ends with a slash. */
  readonly prefix: string;
  /** The address of an S3-compatible server; undefined: Amazon S3 in `region`. */
  readonly endpoint?: URL | undefined;
  readonly region: string;
  readonly credentials: CredentialSource;
}

/** Credentials in a file are read again when the file changes, because short-lived ones are replaced there. */
type CredentialSource =
  | ({ readonly kind: "given" } & BucketCredentials)
  | { readonly kind: "file"; readonly path: string };

export interface BucketCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
}

// The rules of Amazon for names of buckets. In prefixes, only characters that need no escapes in any server.
const storePattern = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/([A-Za-z0-9._/-]*))?$/;

/** Parses `s3://bucket/prefix`; undefined for another text. */
export function parseStoreUrl(text: string): Pick<BucketLocation, "bucket" | "prefix"> | undefined {
  const [, bucket, path = ""] = storePattern.exec(text) ?? [];
  const parts = path.split("/").filter((part) => part !== "");
  if (bucket === undefined || parts.some((part) => part === "." || part === "..")) return undefined;
  return { bucket, prefix: parts.map((part) => `${part}/`).join("") };
}

/** For messages: `s3://bucket/prefix at http://host:9000`. */
export function locationText({ bucket, prefix, endpoint }: BucketLocation): string {
  const at = endpoint === undefined ? "" : ` at ${endpoint.origin}`;
  return `s3://${bucket}/${prefix}`.replace(/\/$/, "") + at;
}

/** Returns a function that returns the current credentials. */
export function readCredentials(source: CredentialSource): () => Promise<BucketCredentials> {
  if (source.kind === "given") return async () => source;
  let known: { readonly changedAtMs: number; readonly credentials: BucketCredentials } | undefined;
  const { path } = source;
  return async () => {
    try {
      const { mtimeMs } = await stat(path);
      if (known?.changedAtMs === mtimeMs) return known.credentials;
      const credentials = parseCredentialsFile(await readFile(path, "utf8"));
      if (credentials === undefined)
        throw new Error("it has no aws_access_key_id and aws_secret_access_key");
      known = { changedAtMs: mtimeMs, credentials };
      return credentials;
    } catch (cause) {
      throw new Fault(
        "failed_precondition",
        `the credentials of the bucket cannot be read from ${path}: ${messageOf(cause)}. ` +
          "GRANGE_STORE_CREDENTIALS names a file as `aws configure` writes it",
        { cause },
      );
    }
  };
}

/** Parses the first section of a credentials file of Amazon's tools; undefined when a key is missing. */
export function parseCredentialsFile(text: string): BucketCredentials | undefined {
  const values = new Map<string, string>();
  let sections = 0;
  for (const line of text.split("\n")) {
    if (line.trim().startsWith("[")) sections++;
    const [, name, value] = /^\s*(aws_[a-z_]+)\s*=\s*(\S+)\s*$/.exec(line) ?? [];
    if (sections <= 1 && name !== undefined && value !== undefined) values.set(name, value);
  }
  const accessKeyId = values.get("aws_access_key_id");
  const secretAccessKey = values.get("aws_secret_access_key");
  if (accessKeyId === undefined || secretAccessKey === undefined) return undefined;
  return { accessKeyId, secretAccessKey, sessionToken: values.get("aws_session_token") };
}
