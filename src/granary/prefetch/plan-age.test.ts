import { expect, test } from "vitest";
import { isPlanOld } from "./plan-age.ts";

const line = { roundTripMs: 20, bytesPerSecond: 1_000_000 };
const basis = { line, demandScale: 0.5 };
const since = { line, demandScale: undefined, waiting: 1_000, overtaken: 0 };
const by = (times: number) => ({ line: { ...line, bytesPerSecond: times * 1_000_000 } });

test.each([
  ["nothing has happened", {}, false],
  ["the line is a little faster", by(1.9), false],
  ["the line is twice as fast, and more", by(2.1), true],
  ["the line is less than half as fast", by(0.4), true],
  ["the build asks more than twice as fast", { demandScale: 0.2 }, true],
  ["the build asks more slowly, so that all comes in time", { demandScale: 1 }, false],
  ["a tenth was asked for before its turn", { overtaken: 100 }, false],
  ["more than a tenth was", { overtaken: 101 }, true],
  ["few were, of fewer that wait", { waiting: 20, overtaken: 16 }, false],
])("when %s, given %j, that a plan is old is %s", (_, seen, isOld) => {
  expect(isPlanOld(basis, { ...since, ...seen })).toBe(isOld);
});
