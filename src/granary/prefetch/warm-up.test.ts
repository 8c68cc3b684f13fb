import { expect, test } from "vitest";
import { warmUp } from "./warm-up.ts";

test("a rehearsal goes the whole way of what is fetched ahead, and ends", async () => {
  expect(await warmUp(new AbortController().signal)).toBe(48);
});

test("a granary that stops meanwhile is not held up", async () => {
  expect(await warmUp(AbortSignal.abort())).toBe(0);
});
