import { once } from "node:events";
import type { ApiClient, RunAddress } from "./api/api-client.ts";
import { printableLog } from "./terminal/printable-text.ts";
import type { Terminal } from "./terminal/terminal.ts";

/** Yields the stored part of a log, in pieces. */
export async function* storedLog(
  api: Pick<ApiClient, "log">,
  address: RunAddress,
): AsyncGenerator<Uint8Array> {
  let offset = 0;
  for (;;) {
    const { bytes, nextOffset } = await api.log(address, offset);
    if (bytes.length === 0) return;
    yield bytes;
    offset = nextOffset;
  }
}

/** Yields a log as it grows, until its run has ended or the user stops it. */
export async function* followedLog(
  api: Pick<ApiClient, "followLog">,
  address: RunAddress,
  terminal: Pick<Terminal, "notes">,
): AsyncGenerator<Uint8Array> {
  const enough = new AbortController();
  const leave = () => enough.abort();
  process.once("SIGINT", leave);
  try {
    for await (const part of api.followLog(address, enough.signal)) {
      if (part.kind === "text") yield Buffer.from(part.text);
      else terminal.notes.line(`--- attempt ${part.attempt} started, with a new log ---`);
    }
  } finally {
    process.off("SIGINT", leave);
  }
}

/** On a terminal, prints text without control sequences; to a pipe, prints the bytes unchanged. */
export async function printLog(
  parts: AsyncIterable<Uint8Array>,
  { answer }: Pick<Terminal, "answer">,
  stream: NodeJS.WriteStream = process.stdout,
): Promise<void> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const bytes of parts) {
    if (!answer.isTerminal) {
      if (!stream.write(bytes)) await once(stream, "drain");
      continue;
    }
    // Only whole lines, because an incomplete escape sequence would not be detected.
    rest += decoder.decode(bytes, { stream: true });
    const end = Math.max(rest.lastIndexOf("\n"), rest.lastIndexOf("\r")) + 1;
    answer.write(printableLog(rest.slice(0, end)));
    rest = rest.slice(end);
  }
  if (rest !== "") answer.line(printableLog(rest));
}
