import { failureOf, reach } from "../../farm/ask.ts";
import { atLog } from "./at-log.ts";

/** Where reading ended, in bytes, and whether the log ends there. */
export interface LogEnd {
  readonly next: number;
  readonly complete: boolean;
  /** Whose log it is: another attempt begins its own. */
  readonly attempt: string;
}

/**
 * The bytes of a log that are there now. The server answers a share at a time
 * and says where the next one begins; a share without bytes is the last.
 */
export async function* readLog(
  url: string,
  signal?: AbortSignal,
): AsyncGenerator<Uint8Array<ArrayBuffer>, LogEnd> {
  for (let offset = 0; ; ) {
    const share = atLog(url, "", { offset });
    const response = await reach(share, signal === undefined ? {} : { signal });
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
