import { expect, test } from "vitest";
import { type Rewriting, whatToCopy } from "./choose-to-copy.ts";

const here = { segment: 4, at: 100, bytes: 50, usedAtS: 7 };
const elsewhere = { ...here, segment: 9 };
const usual: Rewriting = { isOldest: false, isDiskFull: false, isMoved: false };
const record = { segment: 4, at: 100, usedAtS: 7 };

test.each([
  { change: "is", known: here, more: {}, becomes: "moved" },
  { change: "is", known: { ...here, at: 0 }, more: {}, becomes: "dropped" },
  { change: "is", known: elsewhere, more: {}, becomes: "dropped" },
  { change: "is", known: undefined, more: {}, becomes: "dropped" },
  { change: "gone", known: undefined, more: {}, becomes: "rewritten" },
  { change: "gone", known: undefined, more: { isDiskFull: true }, becomes: "rewritten" },
  { change: "gone", known: undefined, more: { isOldest: true }, becomes: "dropped" },
  { change: "gone", known: elsewhere, more: {}, becomes: "dropped" },
  { change: "used", known: elsewhere, more: {}, becomes: "rewritten" },
  { change: "used", known: { ...elsewhere, usedAtS: 8 }, more: {}, becomes: "dropped" },
  { change: "used", known: here, more: {}, becomes: "dropped" },
  { change: "used", known: elsewhere, more: { isMoved: true }, becomes: "dropped" },
  { change: "used", known: elsewhere, more: { isDiskFull: true }, becomes: "dropped" },
  { change: "used", known: undefined, more: {}, becomes: "dropped" },
] as const)(
  "a record that says '$change' of $known, where $more, is $becomes",
  ({ change, known, more, becomes }) => {
    expect(whatToCopy({ ...record, change }, known, { ...usual, ...more })).toBe(becomes);
  },
);
