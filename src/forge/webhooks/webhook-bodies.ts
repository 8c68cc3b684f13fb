import { FairGate } from "#core/fair-gate.ts";
import { Fault } from "#core/fault.ts";

/** GitHub sends nothing larger. */
export const mostWebhookBytes = 25 * 1024 * 1024;

/** Almost all are: one of a push has a few KiB for each commit. */
const smallBytes = 256 * 1024;
const smallAtOnce = 32;

export interface IncomingBody {
  /** By its header, where it has one; not to be believed. */
  readonly statedBytes: number | undefined;
  /** Asked for once it is read. */
  readonly stream: ReadableStream<Uint8Array> | null;
}

/** GitHub gives a webhook up after 10 s. */
const usualPatience = { waitMs: 4_000, readMs: 5_000 };

/**
 * The bodies of webhooks that are in hand: 33 MiB at the most, whoever sends how many.
 *
 * Anybody may send bytes, and only the last says whose they are. One that may be large has the one room for
 * those, and others wait for it unread, so that TCP holds their senders. The room is never given back:
 * what malloc keeps of such buffers once they are freed is more than they were.
 */
export class WebhookBodies {
  readonly #small = new FairGate(smallAtOnce);
  readonly #large = new FairGate(1);
  readonly #patience: typeof usualPatience;
  #room: Buffer | undefined;

  constructor(patience = usualPatience) {
    this.#patience = patience;
  }

  /**
   * Reads a body when its turn comes, telling each piece, and has it used. The bytes are others' as soon as
   * `use` has answered.
   */
  async read<T>(
    body: IncomingBody,
    seen: (piece: Uint8Array) => void,
    use: (body: Uint8Array) => T,
  ): Promise<T> {
    const { statedBytes } = body;
    if ((statedBytes ?? 0) > mostWebhookBytes) throw tooLarge();
    const { waitMs, readMs } = this.#patience;
    const isSmall = statedBytes !== undefined && statedBytes <= smallBytes;
    const waited = new AbortController();
    const timer = setTimeout(() => waited.abort(busy()), waitMs);
    const work = async () => {
      clearTimeout(timer);
      const room = isSmall ? Buffer.alloc(statedBytes) : this.#largeRoom();
      return use(await fill(room, body.stream, readMs, seen));
    };
    try {
      return await (isSmall ? this.#small : this.#large).through("", work, waited.signal);
    } finally {
      clearTimeout(timer);
    }
  }

  #largeRoom(): Buffer {
    this.#room ??= Buffer.allocUnsafeSlow(mostWebhookBytes);
    return this.#room;
  }
}

/** Answers what came, within the room. */
async function fill(
  room: Buffer,
  stream: IncomingBody["stream"],
  readMs: number,
  seen: (piece: Uint8Array) => void,
): Promise<Uint8Array> {
  if (stream === null) return room.subarray(0, 0);
  const reader = stream.getReader();
  let late: Fault | undefined;
  const timer = setTimeout(() => {
    late = new Fault("deadline_exceeded", `the webhook's body was not here within ${readMs} ms`);
    void reader.cancel(late).catch(() => {});
  }, readMs);
  let bytes = 0;
  try {
    for (;;) {
      const { done, value } = await reader.read().catch((cause: unknown) => {
        throw new Fault("cancelled", "the webhook's body broke off", { cause });
      });
      if (late !== undefined) throw late;
      if (done) return room.subarray(0, bytes);
      if (bytes + value.byteLength > room.byteLength) {
        await reader.cancel().catch(() => {});
        throw tooLarge();
      }
      room.set(value, bytes);
      bytes += value.byteLength;
      seen(value);
    }
  } finally {
    clearTimeout(timer);
  }
}

function tooLarge(): Fault {
  return new Fault(
    "resource_exhausted",
    `a webhook has at most ${mostWebhookBytes} bytes, and not more than its Content-Length says`,
  );
}

function busy(): Fault {
  return new Fault("unavailable", "too many webhooks are being read; send it again later");
}
