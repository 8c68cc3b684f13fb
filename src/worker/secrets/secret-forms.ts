/** Shorter texts would be found everywhere. */
const leastBytes = 8;

/** As logs come to show a value: itself, and what tools commonly make of it. Line breaks are nobody's concern here. */
export function formsOf(value: Uint8Array): Uint8Array[] {
  const bytes = Buffer.from(value);
  const text = bytes.toString("utf8");
  const isText = Buffer.from(text).equals(bytes);
  const forms: Buffer[] = [
    bytes,
    ...base64Forms(bytes),
    ...base64Forms(trimmed(bytes)),
    Buffer.from(bytes.toString("hex")),
    Buffer.from(bytes.toString("hex").toUpperCase()),
    // Each by itself, too: logs indent, number and prefix lines.
    ...linesOf(bytes),
  ];
  if (isText) {
    for (const each of new Set([text, text.trim()])) forms.push(...textForms(each));
  }
  const found = new Map<string, Uint8Array>();
  for (const form of forms) {
    const plain = withoutLineBreaks(form);
    if (plain.byteLength >= leastBytes) found.set(plain.toString("latin1"), plain);
  }
  return [...found.values()];
}

function textForms(text: string): Buffer[] {
  // encodeURIComponent throws for half of a pair, which no text that came from UTF-8 has.
  const percent = encodeURIComponent(text);
  const strict = percent.replaceAll(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16)}`);
  const json = JSON.stringify(text).slice(1, -1);
  return [
    text,
    percent,
    lowerEscapes(percent),
    lowerEscapes(strict),
    upperEscapes(strict),
    percent.replaceAll("%20", "+"),
    strict.replaceAll("%20", "+"),
    encodeURI(text),
    json,
    json.replaceAll("/", "\\/"),
    // As a shell shows it under `set -x`.
    text.replaceAll("'", "'\\''"),
    text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;"),
  ].map((form) => Buffer.from(form));
}

function lowerEscapes(text: string): string {
  return text.replaceAll(/%[0-9A-Fa-f]{2}/g, (escape) => escape.toLowerCase());
}

function upperEscapes(text: string): string {
  return text.replaceAll(/%[0-9A-Fa-f]{2}/g, (escape) => escape.toUpperCase());
}

/**
 * In a longer text that was encoded as a whole, such as `user:token`, a value stands at one of three places within
 * a group of three bytes. Letters that its neighbours have a part in are left away.
 */
function base64Forms(bytes: Buffer): Buffer[] {
  // By itself, it ends with letters of its own, and with what fills them up.
  const forms = [bytes.toString("base64"), bytes.toString("base64url")];
  for (const before of [0, 1, 2]) {
    const encoded = Buffer.concat([Buffer.alloc(before), bytes]).toString("base64");
    const first = Math.ceil((before * 8) / 6);
    const last = Math.floor(((before + bytes.byteLength) * 8) / 6);
    const own = encoded.slice(first, last);
    forms.push(own, own.replaceAll("+", "-").replaceAll("/", "_"));
  }
  return forms.map((form) => Buffer.from(form));
}

function linesOf(bytes: Buffer): Buffer[] {
  const lines = bytes.toString("latin1").split(/[\r\n]+/);
  return lines.length < 2 ? [] : lines.map((line) => Buffer.from(line.trim(), "latin1"));
}

/** Many a value ends with a line break that whoever encodes it has cut off. */
function trimmed(bytes: Buffer): Buffer {
  let end = bytes.byteLength;
  while (end > 0 && (bytes[end - 1] === 0x0a || bytes[end - 1] === 0x0d)) end--;
  return bytes.subarray(0, end);
}

function withoutLineBreaks(bytes: Buffer): Buffer {
  return Buffer.from(bytes.filter((byte) => byte !== 0x0a && byte !== 0x0d));
}
