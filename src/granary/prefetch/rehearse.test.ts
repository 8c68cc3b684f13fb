import { expect, test } from "vitest";
import { rehearse } from "./rehearse.ts";

test("a rehearsal goes the whole way of what is fetched ahead, and ends", async () => {
  expect(await rehearse(new AbortController().signal)).toBe(48);
});

test("a granary that stops meanwhile is not held up", async () => {
  expect(await rehearse(AbortSignal.abort())).toBe(0);
});
