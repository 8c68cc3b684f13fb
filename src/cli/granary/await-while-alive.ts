import { setTimeout } from "node:timers/promises";
import { Fault } from "#core/fault.ts";
import { readExecAnswer } from "./exec-answers.ts";
import { connectToGranary } from "./granary-client.ts";

const usual = { betweenMs: 500, greetMs: 2_000 };

/**
 * Waits for an answer of a granary while its keepalives arrive: it may be busy, but a stopped one would never answer.
 */
export async function awaitWhileAlive<T>(
  owed: Promise<T>,
  socketPath: string,
  waitLimitMs: typeof usual = usual,
): Promise<T> {
  const answered = new AbortController();
  try {
    return await Promise.race([owed, untilSilent(socketPath, waitLimitMs, answered.signal)]);
  } finally {
    answered.abort();
  }
}

async function untilSilent(
  socketPath: string,
  { betweenMs, greetMs }: typeof usual,
  signal: AbortSignal,
): Promise<never> {
  for (;;) {
    await setTimeout(betweenMs, undefined, { signal });
    const greeted = await connectToGranary(socketPath, greetMs, readExecAnswer);
    if (typeof greeted === "string") {
      throw new Fault("unavailable", `the granary did not answer the connection in ${greetMs} ms`);
    }
    greeted.close();
  }
}
