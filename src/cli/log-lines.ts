import { LogIndex, LogMatches, mostLogBytes } from "#api/log.ts";
import type { ApiClient } from "./api/api-client.ts";

/** The addresses of one log: for parts of it, for the index of its lines, and for searches. */
export interface LogAddresses {
  /** A part of at most so many bytes. */
  readonly log: (limit: number) => string;
  readonly index: string;
  readonly search: (query: Readonly<Record<string, string>>) => string;
}

/** Which lines to print. */
export type ChosenLines =
  | { readonly kind: "range"; readonly from: number; readonly count: number | undefined }
  | { readonly kind: "tail"; readonly count: number }
  | { readonly kind: "search"; readonly text: string };

type Api = Pick<ApiClient, "logAt" | "get">;

const newline = 0x0a;

/** Yields the bytes of the chosen lines; matches begin with the number of their line. */
export async function* chosenLines(
  api: Api,
  addresses: LogAddresses,
  chosen: ChosenLines,
): AsyncGenerator<Uint8Array> {
  const index = await api.get(LogIndex, addresses.index);
  switch (chosen.kind) {
    case "range":
      return yield* linesFrom(api, addresses, index, chosen.from, chosen.count ?? Infinity);
    case "tail": {
      const from = Math.max(1, index.lines - chosen.count + 1);
      return yield* linesFrom(api, addresses, index, from, chosen.count);
    }
    case "search":
      return yield* matchingLines(api, addresses, index, chosen.text);
  }
}

/** Yields the lines that contain a text. Each block of the log that has one is read once. */
async function* matchingLines(
  api: Api,
  { log, search }: LogAddresses,
  { blocks, bytes }: LogIndex,
  text: string,
): AsyncGenerator<Uint8Array> {
  let block = -1;
  let lines: readonly string[] = [];
  for (let from: number | null = 1; from !== null; ) {
    const query: Record<string, string> = { text, from: String(from), most: "10000" };
    const found: LogMatches = await api.get(LogMatches, search(query));
    for (const line of found.lines) {
      const at = blocks.findLastIndex(([before]) => before < line);
      const [before, offset] = blocks[at] ?? [0, 0];
      if (at !== block) {
        const length = (blocks[at + 1]?.[1] ?? bytes) - offset;
        const part = await api.logAt(log(Math.min(length, mostLogBytes)), offset);
        // Bytes as characters, so that they are printed unchanged.
        lines = Buffer.from(part.bytes).toString("latin1").split("\n");
        block = at;
      }
      yield Buffer.from(`${line}: ${lines[line - before - 1] ?? ""}\n`, "latin1");
    }
    from = found.next;
  }
}

/** Yields whole lines, beginning with the block that contains the first. */
async function* linesFrom(
  api: Api,
  { log }: LogAddresses,
  { blocks }: LogIndex,
  from: number,
  count: number,
): AsyncGenerator<Uint8Array> {
  const [before, start] = blocks.findLast(([lines]) => lines < from) ?? [0, 0];
  let skip = from - 1 - before;
  let left = count;
  for (let offset = start; left > 0; ) {
    const { bytes, nextOffset } = await api.logAt(log(mostLogBytes), offset);
    if (bytes.length === 0) return;
    let begin = 0;
    for (; skip > 0 && begin < bytes.length; skip--) {
      const end = bytes.indexOf(newline, begin);
      if (end === -1) break;
      begin = end + 1;
    }
    if (skip === 0) {
      let end = begin;
      for (; left > 0 && end < bytes.length; left--) {
        const lineEnd = bytes.indexOf(newline, end);
        end = lineEnd === -1 ? bytes.length : lineEnd + 1;
        if (lineEnd === -1) break;
      }
      yield bytes.subarray(begin, end);
    }
    offset = nextOffset;
  }
}
