import type { S3Answer, S3Request } from "./s3-exchange.ts";

/** What follows from an answer of a bucket. */
export type S3Verdict =
  | { readonly kind: "ok" }
  /** The object or the upload does not exist. */
  | { readonly kind: "absent"; readonly code: string }
  /** The same request may succeed later. */
  | { readonly kind: "retry"; readonly problem: string }
  /** Only an operator can change this. */
  | { readonly kind: "refused"; readonly problem: string };

/** Codes of status 400 that are about the transfer and not about the request. */
const damagedOnTheWay: ReadonlySet<string> = new Set([
  "BadDigest",
  "IncompleteBody",
  "RequestTimeout",
  "XAmzContentSHA256Mismatch",
]);

/** Decides what to do about an answer. The answer to a POST may have status 200 and an error in its body. */
export function judgeS3Answer(
  method: S3Request["method"],
  { status, headers, body }: S3Answer,
): S3Verdict {
  const text =
    body.byteLength <= 65_536 && isXml(headers["content-type"]) ? body.toString("utf8") : "";
  const code = textOf(text, "Code") ?? "";
  const isError = status >= 300 || (method === "POST" && /<Error[ >]/.test(text));
  if (!isError) return { kind: "ok" };
  const problem = [status, code, textOf(text, "Message")].filter((each) => each).join(" ");
  if (status < 300) return { kind: "retry", problem };
  if (status >= 500 || status === 408 || status === 429 || code === "SlowDown")
    return { kind: "retry", problem };
  if (status === 400 && damagedOnTheWay.has(code)) return { kind: "retry", problem };
  // Two parts of one upload were completed at the same time, or an earlier operation is not over.
  if (status === 409) return { kind: "retry", problem };
  // 416: the object is shorter than its blob, so the blob is not there.
  if ((status === 404 && code !== "NoSuchBucket") || status === 416)
    return { kind: "absent", code };
  const region = headers["x-amz-bucket-region"];
  const where = typeof region === "string" && status !== 403 ? `; the bucket is in ${region}` : "";
  return { kind: "refused", problem: problem + where };
}

function isXml(type: string | undefined): boolean {
  return type === undefined || /xml/.test(type);
}

/** Returns the content of the first element with a name; undefined when there is none. */
export function textOf(xml: string, name: string): string | undefined {
  const found = new RegExp(`<${name}>([^<]{0,2000})</${name}>`).exec(xml)?.[1];
  return found
    ?.replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&quot;", '"')
    .replaceAll("&#34;", '"')
    .replaceAll("&amp;", "&");
}
