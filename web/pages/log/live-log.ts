import { z } from "zod";
import { listen } from "../../farm/event-stream.ts";
import { atLog } from "./at-log.ts";
import { type Chunk, freshText, lastChunk } from "./fresh-text.ts";
import { incompleteTail } from "./incomplete-tail.ts";
import { LogLines } from "./log-lines.ts";
import { type LogEnd, readLog } from "./read-log.ts";

const LogChunk = z.object({ offset: z.number().int(), text: z.string() });

const Restart = z.object({ attempt: z.number().int() });

export interface LogStatus {
  readonly state: "loading" | "live" | "complete" | "failed";
  /** Increases whenever lines are added. */
  readonly revision: number;
  readonly message: string;
}

/** How often a log without events is read again, in ms. */
const pollEveryMs = 3_000;

/**
 * One run's log, as it grows: existing bytes are read as one stream, and later ones arrive as events. A log that needs
 * headers is read again and again instead, because events cannot be requested with headers. `useSyncExternalStore`
 * displays the lines.
 */
export class LiveLog {
  #lines = new LogLines();
  #status: LogStatus = { state: "loading", revision: 0, message: "" };
  readonly #watchers = new Set<() => void>();
  readonly #url: string;
  readonly #headers: Readonly<Record<string, string>> | undefined;
  #last: Chunk | undefined;
  #ended = false;
  #frame: number | undefined;

  constructor(url: string, headers?: Readonly<Record<string, string>>) {
    this.#url = url;
    this.#headers = headers;
  }

  get lines(): LogLines {
    return this.#lines;
  }

  readonly watch = (watcher: () => void): (() => void) => {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  };

  readonly status = (): LogStatus => this.#status;

  /** Reads and listens until the returned function is called. */
  start(): () => void {
    const abort = new AbortController();
    let stopListening = () => {};
    const run = async () => {
      let { next, complete, attempt } = await this.#readFrom(0, abort.signal);
      while (this.#headers !== undefined && !complete && !abort.signal.aborted) {
        this.#say("live");
        await new Promise((resolve) => window.setTimeout(resolve, pollEveryMs));
        const more = await this.#readFrom(next, abort.signal);
        // Another attempt began its log: it is read from its beginning.
        if (more.attempt !== attempt) this.#lines = new LogLines();
        ({ next, complete } = more.attempt === attempt ? more : { next: 0, complete: false });
        attempt = more.attempt;
      }
      if (abort.signal.aborted) return;
      if (complete) return this.#say("complete");
      this.#say("live");
      stopListening = this.#listenFrom(next, attempt);
    };
    run().catch((reason: unknown) => {
      if (!abort.signal.aborted)
        this.#say("failed", reason instanceof Error ? reason.message : String(reason));
    });
    return () => {
      abort.abort();
      stopListening();
      if (this.#frame !== undefined) cancelAnimationFrame(this.#frame);
    };
  }

  async #readFrom(from: number, signal: AbortSignal): Promise<LogEnd> {
    const decoder = new TextDecoder();
    const headers = this.#headers;
    const pieces = readLog(this.#url, { from, signal, ...(headers && { headers }) });
    let end: Uint8Array = new Uint8Array();
    for (;;) {
      const piece = await pieces.next();
      if (piece.done === true) {
        if (piece.value.complete) this.#add(decoder.decode());
        // An incomplete character will be sent again, from its beginning.
        return { ...piece.value, next: piece.value.next - incompleteTail(end) };
      }
      end = lastBytes(end, piece.value);
      this.#add(decoder.decode(piece.value, { stream: true }));
    }
  }

  #listenFrom(next: number, from: string): () => void {
    let start = next;
    let attempt = from;
    return listen({
      url: () => atLog(this.#url, "/events", { attempt, offset: this.#last?.offset ?? start }),
      types: ["log", "restart", "end"],
      isOver: () => this.#ended,
      onEvent: (data, type) => {
        if (type === "end") {
          this.#ended = true;
          this.#say("complete");
        } else if (type === "restart") {
          // The worker was lost, and another one starts the job again.
          start = 0;
          attempt = String(Restart.parse(JSON.parse(data)).attempt);
          this.#last = undefined;
          this.#lines = new LogLines();
          this.#say("live");
        } else if (type === "log") {
          const heard = LogChunk.parse(JSON.parse(data));
          this.#add(freshText(this.#last, heard));
          this.#last = lastChunk(this.#last, heard);
        }
      },
    });
  }

  #add(text: string): void {
    if (text === "") return;
    this.#lines.push(text);
    // A log may arrive in thousands of pieces a second; the page is drawn sixty times.
    this.#frame ??= requestAnimationFrame(() => {
      this.#frame = undefined;
      this.#say(this.#status.state);
    });
  }

  #say(state: LogStatus["state"], message = ""): void {
    this.#status = { state, revision: this.#status.revision + 1, message };
    for (const watcher of this.#watchers) watcher();
  }
}

/** Returns the last three bytes of both: enough to detect an incomplete character. */
function lastBytes(before: Uint8Array, now: Uint8Array): Uint8Array {
  return Uint8Array.from([...before, ...now.subarray(-3)].slice(-3));
}
