import { z } from "zod";
import { LogIndex } from "#api/log.ts";
import { failureOf, reach } from "../../farm/ask.ts";
import { listen } from "../../farm/event-stream.ts";
import { atLog } from "./at-log.ts";
import { blockAt } from "./block-at.ts";
import { type Chunk, freshText, lastChunk } from "./fresh-text.ts";
import { incompleteTail } from "./incomplete-tail.ts";
import { indexText } from "./index-text.ts";
import { type LogLine, LogLines } from "./log-lines.ts";
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
/** The first part, which is shown before the lines of a longer log are counted, in bytes. */
const firstPart = 64 * 1024;
/** A block has about 128 KiB; more belongs to one long line, of which only the beginning is shown. */
const mostOfABlock = 256 * 1024;
const mostBlocks = 100;
/** So many characters at the end of a growing log are held; then its lines are counted again. */
const mostOfTheEnd = 2 * 1024 * 1024;

const nothingKnown: LogIndex = {
  attempt: 1,
  complete: false,
  bytes: 0,
  lines: 0,
  blocks: [[0, 0]],
  notes: [],
  groups: [],
};

/**
 * One run's log, of which only the parts are loaded that somebody looks at.
 *
 * The server counts the lines: its index says at which byte each block of lines begins. The end of a log that still
 * grows is held as text, to which events add. A log that needs headers is read again and again instead, because events
 * cannot be requested with headers. `useSyncExternalStore` displays the lines.
 */
export class PagedLog {
  #index = nothingKnown;
  /** The lines from `#endFrom` on, of a log that grows, or before its lines are counted. */
  #end: LogLines | undefined;
  #endFrom = 0;
  readonly #blocks = new Map<number, LogLines | "loading">();
  #status: LogStatus = { state: "loading", revision: 0, message: "" };
  readonly #watchers = new Set<() => void>();
  readonly #url: string;
  readonly #headers: Readonly<Record<string, string>> | undefined;
  #abort = new AbortController();
  #last: Chunk | undefined;
  #ended = false;
  #isCounting = false;
  #frame: number | undefined;

  constructor(url: string, headers?: Readonly<Record<string, string>>) {
    this.#url = url;
    this.#headers = headers;
  }

  /** The number of lines so far. */
  get count(): number {
    return this.#end === undefined ? this.#index.lines : this.#endFrom + this.#end.count;
  }

  get index(): LogIndex {
    return this.#index;
  }

  /** Returns a line, from 0; undefined while it is loaded, which begins with this call. */
  at(line: number): LogLine | undefined {
    if (this.#end !== undefined && line >= this.#endFrom) return this.#end.at(line - this.#endFrom);
    if (line < 0 || line >= this.count) return undefined;
    const block = blockAt(this.#index.blocks, line);
    const known = this.#blocks.get(block);
    if (known === undefined) void this.#loadBlock(block);
    if (known === undefined || known === "loading") return undefined;
    return known.at(line - (this.#index.blocks[block]?.[0] ?? 0));
  }

  readonly watch = (watcher: () => void): (() => void) => {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  };

  readonly status = (): LogStatus => this.#status;

  /** Reads and listens until the returned function is called. */
  start(): () => void {
    this.#abort = new AbortController();
    const { signal } = this.#abort;
    let stopListening = () => {};
    const run = async () => {
      let { next, complete, attempt } = await this.#open();
      while (this.#headers !== undefined && !complete && !signal.aborted) {
        this.#say("live");
        await new Promise((resolve) => window.setTimeout(resolve, pollEveryMs));
        const more = await this.#readEnd(next);
        // Another attempt began its log: it is read from its beginning.
        if (more.attempt !== attempt) this.#begin();
        ({ next, complete } = more.attempt === attempt ? more : { next: 0, complete: false });
        attempt = more.attempt;
      }
      if (signal.aborted) return;
      if (complete) return this.#say("complete");
      this.#say("live");
      stopListening = this.#listenFrom(next, attempt);
    };
    run().catch((reason: unknown) => this.#fail(reason));
    return () => {
      this.#abort.abort();
      stopListening();
      if (this.#frame !== undefined) cancelAnimationFrame(this.#frame);
    };
  }

  /**
   * Shows the first part at once. Most logs are not longer: then no further request is needed. The lines of a longer
   * log are counted by the server.
   */
  async #open(): Promise<LogEnd> {
    this.#begin();
    const { bytes, complete, attempt } = await this.#bytes(0, firstPart);
    if (complete || bytes.length < firstPart) {
      // An incomplete character will be sent again, from its beginning.
      const next = complete ? bytes.length : bytes.length - incompleteTail(bytes);
      const text = new TextDecoder().decode(bytes.subarray(0, next));
      this.#end?.push(text);
      this.#adopt(indexText(text, { attempt: Number(attempt), complete, bytes: next }));
      return { next, complete, attempt };
    }
    const text = new TextDecoder().decode(bytes);
    this.#end?.push(text.slice(0, text.lastIndexOf("\n") + 1));
    this.#say("loading");
    const index = await this.#count();
    this.#adopt(index);
    if (index.complete) {
      this.#end = undefined;
      return { next: index.bytes, complete: true, attempt };
    }
    const [lines = 0, offset = 0] = index.blocks.at(-1) ?? [];
    this.#end = new LogLines();
    this.#endFrom = lines;
    return this.#readEnd(offset);
  }

  #begin(): void {
    this.#index = nothingKnown;
    this.#end = new LogLines();
    this.#endFrom = 0;
    this.#blocks.clear();
    this.#last = undefined;
  }

  async #count(): Promise<LogIndex> {
    const { signal } = this.#abort;
    const headers = this.#headers;
    const answer = await reach(atLog(this.#url, "/index", {}), {
      signal,
      ...(headers && { headers }),
    });
    if (!answer.ok) throw await failureOf(answer);
    return LogIndex.parse(await answer.json());
  }

  /** Counts the lines again, and lets go of lines that are now in a block. */
  async #countAgain(): Promise<void> {
    if (this.#isCounting) return;
    this.#isCounting = true;
    try {
      const index = await this.#count();
      const isSame = index.attempt === this.#index.attempt || this.#index === nothingKnown;
      const [lines = 0] = index.blocks.at(-1) ?? [];
      // The count may be ahead of the events, or of an attempt that they have not named yet.
      const end = this.#end;
      const drop = lines - this.#endFrom;
      if (end === undefined || !isSame || drop < 0 || drop > Math.max(0, end.count - 1)) return;
      this.#adopt(index);
      end.dropFirst(drop);
      this.#endFrom = lines;
      this.#say(this.#status.state);
    } finally {
      this.#isCounting = false;
    }
  }

  /** The last block may have grown since it was loaded. */
  #adopt(index: LogIndex): void {
    this.#blocks.delete(this.#index.blocks.length - 1);
    this.#index = index;
  }

  async #bytes(
    offset: number,
    limit: number,
  ): Promise<{ bytes: Uint8Array } & Omit<LogEnd, "next">> {
    const { signal } = this.#abort;
    const headers = this.#headers;
    const url = atLog(this.#url, "", { offset, limit });
    const answer = await reach(url, { signal, ...(headers && { headers }) });
    if (!answer.ok) throw await failureOf(answer);
    return {
      bytes: new Uint8Array(await answer.arrayBuffer()),
      complete: answer.headers.get("x-log-complete") === "true",
      attempt: answer.headers.get("x-log-attempt") ?? "1",
    };
  }

  async #loadBlock(block: number): Promise<void> {
    const { blocks, bytes: end } = this.#index;
    const offset = blocks[block]?.[1] ?? 0;
    const length = (blocks[block + 1]?.[1] ?? end) - offset;
    this.#blocks.set(block, "loading");
    try {
      const { bytes } = await this.#bytes(offset, Math.max(1, Math.min(length, mostOfABlock)));
      const lines = new LogLines();
      lines.push(new TextDecoder().decode(bytes));
      // The newline at the end of the block does not count.
      lines.hideAtEnd(Math.max(0, length - bytes.length - 1));
      this.#blocks.set(block, lines);
      for (const oldest of this.#blocks.keys()) {
        if (this.#blocks.size <= mostBlocks) break;
        this.#blocks.delete(oldest);
      }
      this.#say(this.#status.state);
    } catch (reason) {
      this.#blocks.delete(block);
      this.#fail(reason);
    }
  }

  async #readEnd(from: number): Promise<LogEnd> {
    const decoder = new TextDecoder();
    const headers = this.#headers;
    const { signal } = this.#abort;
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
          this.#countAgain().catch((reason: unknown) => this.#fail(reason));
        } else if (type === "restart") {
          // The worker was lost, and another one starts the job again.
          start = 0;
          attempt = String(Restart.parse(JSON.parse(data)).attempt);
          this.#begin();
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
    if (text === "" || this.#end === undefined) return;
    this.#end.push(text);
    if (this.#end.size > mostOfTheEnd)
      this.#countAgain().catch((reason: unknown) => this.#fail(reason));
    // A log may arrive in thousands of pieces a second; the page is drawn sixty times.
    this.#frame ??= requestAnimationFrame(() => {
      this.#frame = undefined;
      this.#say(this.#status.state);
    });
  }

  #fail(reason: unknown): void {
    if (this.#abort.signal.aborted) return;
    this.#say("failed", reason instanceof Error ? reason.message : String(reason));
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
