import { randomUUID } from "node:crypto";
import { type FileHandle, open, unlink } from "node:fs/promises";
import { join } from "node:path";
import { FairGate } from "#core/fair-gate.ts";
import { Fault } from "#core/fault.ts";

/** GitHub sends nothing larger. */
export const mostWebhookBytes = 25 * 1024 * 1024;

/** Almost all are small: a push has a few KiB for each commit. */
const smallBytes = 256 * 1024;
const smallAtOnce = 32;

export interface IncomingBody {
  /** The size in its header, if any; untrusted. */
  readonly statedBytes: number | undefined;
  /** Read when it is needed. */
  readonly stream: ReadableStream<Uint8Array> | null;
}

/** GitHub's timeout for a webhook is 10 s. */
const defaultWaitLimits = { waitMs: 4_000, readMs: 5_000 };

/** Checks a body against its signature. */
export interface BodyCheck {
  seen(piece: Uint8Array): void;
  /** After the last piece; throws for a body that must not be loaded into memory. */
  passed(): void;
}

/**
 * The bodies of webhooks that are being received: at most 8 MiB in memory, for any number of senders.
 *
 * Any sender may send bytes, and the signature can be verified only after the last one. A possibly large body is
 * written to a file and loaded after its signature was verified; others wait unread, so that TCP flow control stops
 * their senders. The buffer for loaded bodies is never freed, because malloc would retain more memory than the buffer
 * itself.
 */
export class WebhookBodies {
  readonly #small = new FairGate(smallAtOnce);
  readonly #large = new FairGate(1);
  readonly #directory: string;
  readonly #waitLimitMs: typeof defaultWaitLimits;
  #room: Buffer | undefined;

  /** `directory`: for large bodies while they arrive. */
  constructor(directory: string, waitLimitMs = defaultWaitLimits) {
    this.#directory = directory;
    this.#waitLimitMs = waitLimitMs;
  }

  /** Reads a body when its turn comes, and passes it to `use`. The bytes must not be used after `use` has ended. */
  async read<T>(body: IncomingBody, check: BodyCheck, use: (body: Uint8Array) => T): Promise<T> {
    const { statedBytes } = body;
    if ((statedBytes ?? 0) > mostWebhookBytes) throw tooLarge();
    const { waitMs } = this.#waitLimitMs;
    const isSmall = statedBytes !== undefined && statedBytes <= smallBytes;
    const waited = new AbortController();
    const timer = setTimeout(() => waited.abort(busy()), waitMs);
    const work = () => {
      clearTimeout(timer);
      return isSmall
        ? this.#readSmall(statedBytes, body, check, use)
        : this.#readLarge(body, check, use);
    };
    try {
      return await (isSmall ? this.#small : this.#large).through("", work, waited.signal);
    } finally {
      clearTimeout(timer);
    }
  }

  async #readSmall<T>(
    statedBytes: number,
    { stream }: IncomingBody,
    check: BodyCheck,
    use: (body: Uint8Array) => T,
  ): Promise<T> {
    const room = Buffer.alloc(statedBytes);
    const bytes = await receive(stream, statedBytes, this.#waitLimitMs.readMs, (piece, at) => {
      room.set(piece, at);
      check.seen(piece);
    });
    check.passed();
    return use(room.subarray(0, bytes));
  }

  async #readLarge<T>(
    { stream }: IncomingBody,
    check: BodyCheck,
    use: (body: Uint8Array) => T,
  ): Promise<T> {
    const file = await namelessFile(this.#directory);
    try {
      const { readMs } = this.#waitLimitMs;
      const bytes = await receive(stream, mostWebhookBytes, readMs, async (piece, at) => {
        check.seen(piece);
        await file.write(piece, 0, piece.byteLength, at);
      });
      check.passed();
      this.#room ??= Buffer.allocUnsafeSlow(mostWebhookBytes);
      const body = this.#room.subarray(0, bytes);
      for (let at = 0; at < bytes; ) {
        const { bytesRead } = await file.read(body, at, bytes - at, at);
        if (bytesRead === 0)
          throw new Fault("internal", "a webhook's body is no longer in its file");
        at += bytesRead;
      }
      return use(body);
    } finally {
      await file.close();
    }
  }
}

/** Opens an unlinked file, which disappears when its handle is closed, even after a crash. */
async function namelessFile(directory: string): Promise<FileHandle> {
  const path = join(directory, `.webhook-${randomUUID()}`);
  const file = await open(path, "wx+", 0o600);
  await unlink(path);
  return file;
}

/** Passes each piece on with its offset in the body; returns how many bytes arrived. */
async function receive(
  stream: IncomingBody["stream"],
  mostBytes: number,
  readMs: number,
  take: (piece: Uint8Array, at: number) => Promise<void> | void,
): Promise<number> {
  if (stream === null) return 0;
  const reader = stream.getReader();
  let late: Fault | undefined;
  const timer = setTimeout(() => {
    late = new Fault("deadline_exceeded", `the webhook's body did not arrive within ${readMs} ms`);
    void reader.cancel(late).catch(() => {});
  }, readMs);
  let bytes = 0;
  try {
    for (;;) {
      const { done, value } = await reader.read().catch((cause: unknown) => {
        throw new Fault(
          "cancelled",
          "the connection ended before the whole body of the webhook had arrived",
          { cause },
        );
      });
      if (late !== undefined) throw late;
      if (done) return bytes;
      if (bytes + value.byteLength > mostBytes) {
        await reader.cancel().catch(() => {});
        throw tooLarge();
      }
      await take(value, bytes);
      bytes += value.byteLength;
    }
  } finally {
    clearTimeout(timer);
  }
}

function tooLarge(): Fault {
  return new Fault(
    "resource_exhausted",
    `the body of a webhook may have at most ${mostWebhookBytes} bytes, and not more than its Content-Length`,
  );
}

function busy(): Fault {
  return new Fault("unavailable", "too many webhooks are being read; send it again later");
}
