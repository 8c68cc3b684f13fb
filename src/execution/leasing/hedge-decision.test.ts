import { expect, test } from "vitest";
import type { KeptDecision } from "../sizing/size-decision.store.ts";
import { hedgeAfter } from "./hedge-decision.ts";

const latest: KeptDecision = {
  project: "p",
  domain: "protected",
  number: 2,
  purpose: "retry",
  key: "a.key",
  strategy: "grange",
  decidedAt: new Date(0),
  sizeClass: 1,
  isExact: true,
  expectedMs: 2_000,
  timeoutMs: 60_000,
  draw: 0.5,
  backgroundSizeClass: 1,
  pageRank: { 1: 0.5 },
  reason: { kind: "cheapest", text: "" },
  alternatives: [{ sizeClass: 1 }],
};

test.each([
  [0, "0 ms"],
  [7_250, "7.3 s"],
  [125_000, "2 min 05 s"],
])("after %i ms, the decision states how long the first run has taken", (ranMs, words) => {
  const now = new Date(1_000_000);

  const decision = hedgeAfter(latest, 4, new Date(now.getTime() - ranMs), now);

  expect(decision).toMatchObject({ purpose: "hedge", chosen: { sizeClass: 4, isExact: false } });
  expect(decision.chosen.decision).toMatchObject({
    key: "a.key",
    decidedAt: now,
    backgroundSizeClass: undefined,
    pageRank: undefined,
  });
  expect(decision.chosen.decision.reason["text"]).toContain(`for ${words} on size class 1`);
});
