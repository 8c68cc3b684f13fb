import type { Context } from "hono";
import type { Digest } from "#core/digest.ts";

/** Never shown as a page: the output of a build could be a page that acts as the user. */
export function asAttachment(c: Context, name: string, { sizeBytes }: Digest): void {
  c.header("content-type", "application/octet-stream");
  c.header("content-disposition", attachmentNamed(name));
  c.header("content-length", String(sizeBytes));
  c.header("content-security-policy", "default-src 'none'; sandbox");
}

function attachmentNamed(name: string): string {
  const base = name.slice(name.lastIndexOf("/") + 1).slice(0, 200) || "blob";
  // An unpaired surrogate has no encoding, and `encodeURIComponent` leaves some characters that the header does not
  // allow.
  const encoded = encodeURIComponent(base.replace(/\p{Surrogate}/gu, "\uFFFD")).replace(
    /['()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename*=UTF-8''${encoded}`;
}
