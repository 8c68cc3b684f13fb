import type { Context } from "hono";

/** Sets the cookies of an answer that is for one browser only, and forbids caches and other sites to have it. */
export function answerOneBrowser(c: Context, cookies: readonly string[]): void {
  c.header("cache-control", "no-store");
  c.header("cross-origin-resource-policy", "same-origin");
  for (const cookie of cookies) c.header("set-cookie", cookie, { append: true });
}
