/** Shorter texts would match too often. */
const leastBytes = 8;

/**
 * Returns the texts in which a log may show a value: the value itself, and common encodings of it. Line breaks are
 * handled in the log mask.
 */
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
    ...percentForms(bytes),
    ...dumpForms(bytes),
    // Each line separately, too: logs indent, number and prefix lines.
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

/** Each byte as `%XX`, also bytes that never need it. */
function percentForms(bytes: Buffer): Buffer[] {
  const all = bytes.toString("hex").replaceAll(/../g, "%$&");
  return [all, upperEscapes(all)].map((form) => Buffer.from(form));
}

/**
 * The maximum length of a value that is searched for in dumps: the forms of each byte take about 30 states of the
 * matcher.
 */
const mostDumpedBytes = 4_096;
/** This many bytes of a hex dump are recognised wherever its lines begin; adjacent ones are hidden together. */
const windowBytes = 4;
/** The bytes in a line of `xxd` and `hexdump -C`, whose right column shows the bytes as text. */
const lineBytes = 16;

/** Returns the forms of a value in the output of `od -tx1`, `hexdump -C` and `xxd`, whatever precedes it in a line. */
function dumpForms(bytes: Buffer): Buffer[] {
  if (bytes.byteLength < leastBytes) return [];
  const dumped = bytes.subarray(0, mostDumpedBytes);
  const forms: string[] = [];
  for (let at = 0; at + windowBytes <= dumped.byteLength; at++) {
    const window = dumped.subarray(at, at + windowBytes);
    // A window of one repeated byte, such as spaces, would match any dump.
    if (window.every((byte) => byte === window[0])) continue;
    const [a, b, c, d] = Array.from(window, (byte) => byte.toString(16).padStart(2, "0"));
    forms.push(`${a} ${b} ${c} ${d}`, `${a}${b} ${c}${d}`, `${a} ${b}${c} ${d}`);
  }
  const shown = dumped.toString("latin1").replaceAll(/[^ -~]/g, ".");
  if (shown.length > lineBytes) {
    for (let at = 0; at + leastBytes <= shown.length; at++) {
      // The last line is shorter, for a file that contains only the value.
      const line = shown.slice(at, at + lineBytes);
      if (line.length === lineBytes || at % lineBytes === 0) forms.push(line);
    }
  }
  return forms.map((form) => Buffer.from(form));
}

function textForms(text: string): Buffer[] {
  // encodeURIComponent throws for an unpaired surrogate, which no text decoded from UTF-8 contains.
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
    // The form that a shell prints under `set -x`.
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
 * Returns the base64 forms of a value inside a longer text that was encoded as a whole, such as `user:token`: the value
 * is at one of three positions within a group of three bytes. Letters that also depend on neighbouring bytes are left
 * out.
 */
function base64Forms(bytes: Buffer): Buffer[] {
  // Encoded alone, the value ends with different letters and with padding.
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

/** Many values end with a line break that was removed before encoding. */
function trimmed(bytes: Buffer): Buffer {
  let end = bytes.byteLength;
  while (end > 0 && (bytes[end - 1] === 0x0a || bytes[end - 1] === 0x0d)) end--;
  return bytes.subarray(0, end);
}

function withoutLineBreaks(bytes: Buffer): Buffer {
  return Buffer.from(bytes.filter((byte) => byte !== 0x0a && byte !== 0x0d));
}
