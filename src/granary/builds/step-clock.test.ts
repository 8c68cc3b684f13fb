import { expect, test } from "vitest";
import type { ResultKey } from "#commit-index/result-key.ts";
import { stepClock } from "./step-clock.ts";

const key = (name: string): ResultKey => ({ namespace: "ccache", key: name });

test("a result took from its miss until it was stored, and its time is returned once", () => {
  const clock = stepClock();
  clock.missed(key("a"), 100);
  clock.missed(key("a"), 300);
  expect(clock.tookMs(key("a"), 1_100)).toBe(1_000);
  expect(clock.tookMs(key("a"), 1_200)).toBeUndefined();
  expect(clock.tookMs(key("never asked for"), 1_200)).toBeUndefined();
});

test("two results of one step share its time", () => {
  const clock = stepClock();
  clock.missed(key("manifest"), 0);
  clock.missed(key("object"), 20);
  expect(clock.tookMs(key("object"), 1_000)).toBe(980);
  expect(clock.tookMs(key("manifest"), 1_003)).toBe(23);
});

test("parallel steps each have their own time", () => {
  const clock = stepClock();
  clock.missed(key("long"), 0);
  clock.missed(key("short"), 100);
  expect(clock.tookMs(key("short"), 500)).toBe(400);
  expect(clock.tookMs(key("long"), 2_000)).toBe(2_000);
});
