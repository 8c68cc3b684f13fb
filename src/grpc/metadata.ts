import type { IncomingHttpHeaders } from "node:http2";

/**
 * The metadata of a call: lower-case names, text values; bytes where the name ends in `-bin`.
 *
 * The texts of a repeated name are joined by ", ", as in HTTP; of bytes, the first value counts.
 */
export type Metadata = Readonly<Record<string, string | Uint8Array>>;

export const noMetadata: Metadata = {};

const reserved = new Set(["te", "content-type", "host", "connection"]);

/** The headers that carry this metadata. Throws on names or values that HTTP cannot carry. */
export function headersOf(metadata: Metadata): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(metadata)) {
    headers[name] = typeof value === "string" ? value : encodeBinaryValue(value);
  }
  return headers;
}

/** Returns the metadata among a call's headers, without the headers of gRPC and HTTP. */
export function metadataOf(headers: IncomingHttpHeaders): Metadata {
  const metadata: Record<string, string | Uint8Array> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined || name.startsWith(":") || reserved.has(name)) continue;
    if (name.startsWith("grpc-")) continue;
    const text = Array.isArray(value) ? value.join(", ") : value;
    metadata[name] = name.endsWith("-bin") ? decodeBinaryValue(text) : text;
  }
  return metadata;
}

/** Base64 without padding: the form in which gRPC asks for -bin values to be sent. */
export function encodeBinaryValue(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    .toString("base64")
    .replace(/=+$/, "");
}

/** Takes padded and unpadded base64, and the first of several joined by commas. */
export function decodeBinaryValue(text: string): Uint8Array {
  const [first = ""] = text.split(",", 1);
  return Buffer.from(first, "base64");
}
