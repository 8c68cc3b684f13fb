import { setTimeout as sleep } from "node:timers/promises";
import type { Service } from "#core/service.ts";

/** Fetches and waits with a timeout; all are aborted when the service stops. */
interface CuttableFetch extends Service {
  readonly fetch: typeof fetch;
  readonly wait: (ms: number) => Promise<void>;
}

export function cuttableFetch(timeoutMs: number, call: typeof fetch): CuttableFetch {
  const stopping = new AbortController();
  const underWay = new Set<AbortController>();
  const ending = new Set<Promise<unknown>>();
  return {
    // The body is read here, under the same timer, so that an endlessly slow response is also aborted.
    fetch: (url, init) => {
      const cut = new AbortController();
      const timer = setTimeout(
        () => cut.abort(new Error(`no answer within ${timeoutMs} ms`)),
        timeoutMs,
      );
      if (stopping.signal.aborted) cut.abort(stopping.signal.reason);
      underWay.add(cut);
      const answer = (async () => {
        const got = await call(url, { ...init, signal: cut.signal });
        const body = hasNoBody(got.status) ? null : await boundedBody(got, cut);
        const whole = new Response(body, { status: got.status, headers: got.headers });
        Object.defineProperty(whole, "url", { value: got.url });
        return whole;
      })().finally(() => {
        clearTimeout(timer);
        underWay.delete(cut);
        ending.delete(answer);
      });
      ending.add(answer);
      return answer;
    },
    wait: (ms) => sleep(ms, undefined, { signal: stopping.signal }),
    async stop() {
      const reason = new Error("stopping");
      stopping.abort(reason);
      for (const cut of underWay) cut.abort(reason);
      await Promise.allSettled(ending);
    },
  };
}

const hasNoBody = (status: number) => status === 204 || status === 205 || status === 304;

/** A page of a hundred pull requests is some two megabytes. */
const mostBytes = 32 * 1024 * 1024;

async function boundedBody(answer: Response, cut: AbortController): Promise<Uint8Array | null> {
  if (answer.body === null) return null;
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of answer.body) {
    length += part.length;
    if (length > mostBytes) {
      const reason = new Error(`the answer is longer than ${mostBytes} bytes`);
      cut.abort(reason);
      throw reason;
    }
    parts.push(part);
  }
  return Buffer.concat(parts);
}
