import { setTimeout as delay } from "node:timers/promises";
import { z } from "zod";
import { GraphDelta } from "#api/graph.ts";
import { ApiFailure, failureOf, ServerUnreachable } from "./api-failure.ts";
import { retryDelayMs } from "./retry-delay.ts";
import { type HttpAnswer, LostConnection } from "./send-request.ts";
import { parseServerSentEvents, type ServerSentEvent } from "./server-sent-events.ts";

/** Opens the stream; the headers tell the server where to continue. */
type Open = (headers: Record<string, string>) => Promise<HttpAnswer>;

/** A piece of a log, or the information that another attempt, and so another log, has started. */
export type LogPart =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "restart"; readonly attempt: number };

/** A server that is silent for this long is unreachable: it sends at least a comment every 15 s. */
const silenceMs = 45_000;

/** Follows a graph from a version on; each change arrives once, over any number of connections. */
export async function* followGraph(
  open: Open,
  since: number,
  signal: AbortSignal,
): AsyncGenerator<GraphDelta> {
  for await (const event of follow(open, since, signal)) {
    if (event.type === "message") yield GraphDelta.parse(JSON.parse(event.data));
  }
}

const LogEvent = z.object({ text: z.string() });
const RestartEvent = z.object({ attempt: z.number().int() });

export async function* followLog(open: Open, signal: AbortSignal): AsyncGenerator<LogPart> {
  for await (const event of follow(open, 0, signal)) {
    const data: unknown = JSON.parse(event.data);
    if (event.type === "log") yield { kind: "text", text: LogEvent.parse(data).text };
    if (event.type === "restart") yield { kind: "restart", ...RestartEvent.parse(data) };
  }
}

/**
 * Reads a stream until its `end`, and reconnects when it breaks off before.
 *
 * The server continues after the last id that arrived completely. A stream that the server refuses is not requested
 * again.
 */
async function* follow(
  open: Open,
  since: number,
  signal: AbortSignal,
): AsyncGenerator<ServerSentEvent> {
  let lastId = String(since);
  let failures = 0;
  while (!signal.aborted) {
    try {
      const answer = await open({ accept: "text/event-stream", "last-event-id": lastId });
      for await (const event of parseServerSentEvents(withoutSilence(answer))) {
        failures = 0;
        lastId = event.id ?? lastId;
        if (event.type === "end") return;
        if (event.type === "failure") throw failureOf(500, event.data);
        yield event;
      }
    } catch (cause) {
      if (signal.aborted) return;
      if (!isLostConnection(cause)) throw cause;
    }
    failures += 1;
    await delay(retryDelayMs(failures, Math.random()), undefined, { signal }).catch(() => {});
  }
}

/** A proxy answers 502 to 504 while the server restarts. */
function isLostConnection(cause: unknown): boolean {
  if (cause instanceof ApiFailure) return cause.status >= 502 && cause.status <= 504;
  return cause instanceof ServerUnreachable || cause instanceof LostConnection;
}

async function* withoutSilence(answer: HttpAnswer): AsyncGenerator<Uint8Array> {
  let isSilent = false;
  const listen = () =>
    setTimeout(() => {
      isSilent = true;
      answer.cancel();
    }, silenceMs);
  let timer = listen();
  try {
    for await (const chunk of answer.body) {
      // The reader may take any time for it.
      clearTimeout(timer);
      yield chunk;
      timer = listen();
    }
    // A cancelled answer may end as if it was complete.
    if (isSilent) throw new LostConnection("the server stopped sending data");
  } finally {
    clearTimeout(timer);
    answer.cancel();
  }
}
