import { rest } from "./resting.ts";

/** What comes of it, or `"late"` when so much time is over. Leaves no timer behind. */
export async function inTime<T>(event: Promise<T>, mostMs: number): Promise<T | "late"> {
  const over = new AbortController();
  try {
    return await Promise.race([event, rest(mostMs, over.signal).then(() => "late" as const)]);
  } finally {
    over.abort();
  }
}
