/**
 * Text for the `grpc-message` trailer: UTF-8, with all but printable ASCII as %XX.
 *
 * Source: gRPC over HTTP/2, "Percent-Encoded".
 */
export function encodeGrpcMessage(text: string): string {
  if (/^[\x20-\x24\x26-\x7e]*$/.test(text)) return text;
  let encoded = "";
  for (const byte of Buffer.from(text, "utf8")) {
    const plain = byte >= 0x20 && byte <= 0x7e && byte !== 0x25;
    encoded += plain
      ? String.fromCharCode(byte)
      : `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
  }
  return encoded;
}

/** The inverse. Ill-formed escapes stay as they are, because a damaged message is better than none. */
export function decodeGrpcMessage(encoded: string): string {
  if (!encoded.includes("%")) return encoded;
  const bytes: number[] = [];
  for (let at = 0; at < encoded.length; at++) {
    const escape = /^%([0-9a-fA-F]{2})/.exec(encoded.slice(at, at + 3));
    if (escape === null) {
      bytes.push(...Buffer.from(encoded.charAt(at), "utf8"));
    } else {
      bytes.push(Number.parseInt(escape[1] ?? "", 16));
      at += 2;
    }
  }
  return Buffer.from(bytes).toString("utf8");
}
