import { setTimeout as delay } from "node:timers/promises";
import { z } from "zod";
import { GraphDelta } from "#api/graph.ts";
import { ApiFailure, failureOf, ServerUnreachable } from "./api-failure.ts";
import { retryDelayMs } from "./retry-delay.ts";
import { parseServerSentEvents, type ServerSentEvent } from "./server-sent-events.ts";

/** Opens the stream; the headers tell the server where to continue. */
type Open = (headers: Record<string, string>) => Promise<Response>;

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
      const response = await open({ accept: "text/event-stream", "last-event-id": lastId });
      for await (const event of parseServerSentEvents(withoutSilence(response))) {
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

/** A broken stream is a TypeError from fetch; and a proxy answers 502 to 504 while the server restarts. */
function isLostConnection(cause: unknown): boolean {
  if (cause instanceof ApiFailure) return cause.status >= 502 && cause.status <= 504;
  return cause instanceof ServerUnreachable || cause instanceof TypeError;
}

async function* withoutSilence(response: Response): AsyncGenerator<Uint8Array> {
  if (response.body === null) return;
  const reader = response.body.getReader();
  try {
    for (;;) {
      let timer: NodeJS.Timeout | undefined;
      const silence = new Promise<never>((_, reject) => {
        timer = setTimeout(
          () => reject(new TypeError("the server stopped sending data")),
          silenceMs,
        );
      });
      const { done, value } = await Promise.race([reader.read(), silence]).finally(() =>
        clearTimeout(timer),
      );
      if (done) return;
      yield value;
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}
