import { Hono } from "hono";
import { pino } from "pino";
import { expect, test } from "vitest";
import { isSomebodyElseWaiting } from "#scheduling/take-turns.ts";
import { listen } from "./listen.ts";

test("what is long rests for a small request, and not for one with a large body", async () => {
  const doesRest: boolean[] = [];
  const app = new Hono().all("/", (c) => {
    doesRest.push(isSomebodyElseWaiting("somebody with an upload"));
    return c.text("");
  });
  const listening = await listen({
    graceMs: 100,
    host: "127.0.0.1",
    port: 0,
    methods: [],
    logger: pino({ level: "silent" }),
    app: () => app,
    caches: () => false,
  });
  const url = `http://127.0.0.1:${listening.port}/`;
  try {
    // Waiters of earlier tests.
    await expect.poll(() => isSomebodyElseWaiting("somebody with an upload")).toBe(false);
    await fetch(url, { method: "PUT", body: new Uint8Array(1_048_576) });
    await fetch(url);
  } finally {
    await listening.stop();
  }
  expect(doesRest).toEqual([false, true]);
});
