import { rest } from "./resting.ts";

/** Returns the result of the promise, or `"late"` after so much time. Leaves no timer behind. */
export async function inTime<T>(event: Promise<T>, mostMs: number): Promise<T | "late"> {
  const over = new AbortController();
  try {
    return await Promise.race([event, rest(mostMs, over.signal).then(() => "late" as const)]);
  } finally {
    over.abort();
  }
}
