import { failureOf, reach } from "../../farm/ask.ts";
import { atLog } from "./at-log.ts";

/** The end of reading, in bytes, and whether the log ends there. */
export interface LogEnd {
  readonly next: number;
  readonly complete: boolean;
  /** The attempt to which the log belongs: another attempt starts its own log. */
  readonly attempt: string;
}

interface ReadLogOptions {
  readonly signal?: AbortSignal;
  /** Sent with each request: a share link opens its log by one. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The offset of the first byte; 0 unless given. */
  readonly from?: number;
}

/**
 * Yields the existing bytes of a log. The server sends a part at a time and states where the next one begins; an empty
 * part is the last.
 */
export async function* readLog(
  url: string,
  { from = 0, ...init }: ReadLogOptions = {},
): AsyncGenerator<Uint8Array<ArrayBuffer>, LogEnd> {
  for (let offset = from; ; ) {
    const response = await reach(atLog(url, "", { offset }), init);
    if (!response.ok || response.body === null) throw await failureOf(response);
    const begun = offset;
    const reader = response.body.getReader();
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      offset += part.value.length;
      yield part.value;
    }
    const complete = response.headers.get("x-log-complete") === "true";
    const attempt = response.headers.get("x-log-attempt") ?? "1";
    if (complete || offset === begun) return { next: offset, complete, attempt };
  }
}
