import { expect, test } from "vitest";
import { warmUp } from "./warm-up.ts";

test("a rehearsal runs all prefetch code, and ends", async () => {
  expect(await warmUp(new AbortController().signal)).toBe(48);
});

test("a granary that stops meanwhile is not delayed", async () => {
  expect(await warmUp(AbortSignal.abort())).toBe(0);
});
