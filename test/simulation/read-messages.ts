/** What PostgreSQL answers, as far as the simulation needs it. */
type BackendMessage =
  | { readonly kind: "parsed" }
  | { readonly kind: "columns"; readonly columns: readonly { name: string; type: number }[] }
  | { readonly kind: "row"; readonly fields: readonly (string | null)[] }
  | { readonly kind: "complete"; readonly tag: string }
  | { readonly kind: "error"; readonly fields: Readonly<Record<string, string>> }
  | { readonly kind: "notification"; readonly channel: string; readonly payload: string };

const letters = {
  parsed: "1",
  columns: "T",
  row: "D",
  complete: "C",
  error: "E",
  notification: "A",
};
const codes = Object.fromEntries(
  Object.entries(letters).map(([kind, letter]) => [kind, letter.charCodeAt(0)]),
) as Readonly<Record<keyof typeof letters, number>>;

/**
 * Reads the messages of an answer, all of which are complete, and calls `heard` with each in its order.
 *
 * PGlite's own parser makes an object with a copy of the bytes for each field of a row. That took a tenth of a seed.
 */
export function readMessages(answer: Uint8Array, heard: (message: BackendMessage) => void): void {
  const bytes = Buffer.from(answer.buffer, answer.byteOffset, answer.byteLength);
  for (let at = 0; at < bytes.length; ) {
    // The length counts itself, and not the letter before it.
    const end = at + 1 + bytes.readInt32BE(at + 1);
    const message = readMessage(bytes, bytes[at] ?? 0, at + 5);
    if (message !== undefined) heard(message);
    at = end;
  }
}

function readMessage(bytes: Buffer, code: number, from: number): BackendMessage | undefined {
  switch (code) {
    case codes.parsed:
      return { kind: "parsed" };
    case codes.columns:
      return { kind: "columns", columns: readColumns(bytes, from) };
    case codes.row:
      return { kind: "row", fields: readFields(bytes, from) };
    case codes.complete:
      return { kind: "complete", tag: readText(bytes, from).text };
    case codes.error:
      return { kind: "error", fields: readErrorFields(bytes, from) };
    case codes.notification: {
      // The number of the process that notified comes first.
      const channel = readText(bytes, from + 4);
      return {
        kind: "notification",
        channel: channel.text,
        payload: readText(bytes, channel.end).text,
      };
    }
    default:
      return undefined;
  }
}

/** Bytes of a column's description after its name: table, number, type, size, modifier and format. */
const column = { typeAt: 6, bytes: 18 };

function readColumns(bytes: Buffer, from: number): { name: string; type: number }[] {
  const columns: { name: string; type: number }[] = [];
  let at = from + 2;
  for (let count = bytes.readInt16BE(from); count > 0; count--) {
    const { text, end } = readText(bytes, at);
    columns.push({ name: text, type: bytes.readInt32BE(end + column.typeAt) });
    at = end + column.bytes;
  }
  return columns;
}

function readFields(bytes: Buffer, from: number): (string | null)[] {
  const fields: (string | null)[] = [];
  let at = from + 2;
  for (let count = bytes.readInt16BE(from); count > 0; count--) {
    const length = bytes.readInt32BE(at);
    at += 4;
    fields.push(length < 0 ? null : bytes.toString("utf8", at, at + length));
    at += Math.max(0, length);
  }
  return fields;
}

/** By their letters: `M` is the message, `C` the code, `n` the constraint. */
function readErrorFields(bytes: Buffer, from: number): Record<string, string> {
  const fields: Record<string, string> = {};
  for (let at = from; (bytes[at] ?? 0) !== 0; ) {
    const { text, end } = readText(bytes, at + 1);
    fields[String.fromCharCode(bytes[at] ?? 0)] = text;
    at = end;
  }
  return fields;
}

function readText(bytes: Buffer, from: number): { readonly text: string; readonly end: number } {
  const zero = bytes.indexOf(0, from);
  return { text: bytes.toString("utf8", from, zero), end: zero + 1 };
}
