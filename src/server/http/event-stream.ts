import type { Context } from "hono";
import { streamSSE } from "hono/streaming";
import { Fault } from "#core/fault.ts";
import { TooManyRequests } from "#core/too-many-requests.ts";
import type { Ticket } from "../change-feed.ts";
import { faultToHttp } from "./fault-to-http.ts";

export interface ServerEvent {
  readonly event?: string;
  /** The position from which a client continues after it lost the connection. */
  readonly id?: string;
  readonly data: unknown;
}

export interface Look {
  readonly events: readonly ServerEvent[];
  /** No further change is possible: the stream ends. */
  readonly over: boolean;
}

/** Proxies close silent connections; most wait a minute. */
const silenceMs = 15_000;
/** A stream of a caller whose right was taken away ends within this time and that of `callerCacheMs` of callers. */
const rightsEveryMs = 5_000;

/** Each stream reads again at every change; only a large company has so many open pages. */
const mostStreams = 2_000;
let openStreams = 0;
/** When the server is full, a client may try again after this time. */
const fullForMs = 5_000;

/**
 * Sends the result of `look`, waits for a change, and looks again.
 *
 * Events contain states, not steps: a slow client gets fewer events. A client that reconnects names the last event it
 * saw, and misses nothing.
 */
export function eventStream(c: Context, ticket: Ticket, look: () => Promise<Look>): Response {
  if (openStreams >= mostStreams) {
    ticket.drop();
    throw new TooManyRequests(
      `this server has ${mostStreams} streams of events open, which is the limit; close some, or try again later`,
      fullForMs,
    );
  }
  const begin: (() => () => void) | undefined = c.get("beginStream");
  let end: () => void;
  try {
    end = begin?.() ?? (() => {});
  } catch (tooMany) {
    ticket.drop();
    throw tooMany;
  }
  openStreams += 1;
  const leave = new AbortController();
  const stillMay: (() => Promise<unknown>) | undefined = c.get("stillMay");
  const changed = async () => {
    for (let waited = 0; waited < silenceMs && !leave.signal.aborted; waited += rightsEveryMs) {
      await stillMay?.();
      if (await ticket.changed(rightsEveryMs, leave.signal)) break;
    }
    await stillMay?.();
  };
  return streamSSE(c, async (stream) => {
    stream.onAbort(() => leave.abort());
    try {
      while (!leave.signal.aborted) {
        const { events, over } = await look();
        for (const event of events) {
          await stream.writeSSE({
            ...(event.event === undefined ? {} : { event: event.event }),
            ...(event.id === undefined ? {} : { id: event.id }),
            data: JSON.stringify(event.data),
          });
        }
        if (over) {
          await stream.writeSSE({ event: "end", data: "{}" });
          return;
        }
        if (events.length === 0) await stream.write(": still here\n\n");
        await changed();
      }
    } catch (cause) {
      if (leave.signal.aborted) return;
      await stream.writeSSE({ event: "failure", data: JSON.stringify(faultToHttp(cause).body) });
    } finally {
      openStreams -= 1;
      end();
      ticket.drop();
    }
  });
}

/** Returns the position from which a client continues: after its last event, or else after the requested version. */
export function resumeFrom(c: Context, requested: number): number {
  const text = c.req.header("last-event-id");
  if (text === undefined) return requested;
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= 0) return value;
  throw new Fault("invalid_argument", `Last-Event-ID must be a whole number, not "${text}"`);
}
