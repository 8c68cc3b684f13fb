import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  afterFailing,
  type Failing,
  isSetAside,
  setAsideOf,
  triesUntilSetAside,
  whatToSend,
} from "./choose-to-send.ts";

interface File {
  readonly kind: "results" | "index" | "report";
  readonly items: number;
  readonly failing?: Failing;
}

const now = 1_000_000;
const failing = (tries: number, inMs: number): Failing => ({
  tries,
  notBeforeMs: now + inMs,
  because: "internal",
});
const of = (files: readonly File[]) => whatToSend(files, (file) => file.failing, now);
const sent = (files: readonly File[]) => {
  const next = of(files);
  return next.kind === "send" ? next.files.map((file) => files.indexOf(file)) : next.kind;
};

const results: File = { kind: "results", items: 400 };
const index: File = { kind: "index", items: 1 };
const report: File = { kind: "report", items: 1 };
const later = { ...results, failing: failing(2, 500) };

describe("the next files to send", () => {
  test.each<[string, readonly File[], number[] | string]>([
    ["is nothing of nothing", [], "nothing"],
    ["is results together, as far as they fit", [results, results, results], [0, 1]],
    ["is one index at a time", [index, index], [0]],
    ["does not wait behind what is tried again later", [later, results, results], [1, 2]],
    ["waits when all is tried again later", [later], "wait"],
    ["is no index of results that are still tried", [later, index, report], [2]],
    [
      "is the index of results that were set aside",
      [{ ...results, failing: failing(99, 500) }, index],
      [1],
    ],
    [
      "is what failed, by itself, when its time has come",
      [{ ...results, failing: failing(2, 0) }, results],
      [0],
    ],
    ["is not joined by what failed", [results, { ...results, failing: failing(2, 0) }], [0]],
  ])("%s", (_, drawn, expected) => {
    expect(sent(drawn.map((file) => ({ ...file })))).toEqual(expected);
  });

  test("after any failures, something can be sent or its time is known, and nothing is sent before its time", () => {
    const anyFile = fc.record({
      kind: fc.constantFrom("results" as const, "index" as const, "report" as const),
      items: fc.integer({ min: 1, max: 500 }),
      failing: fc.option(
        fc.record({
          tries: fc.integer({ min: 1, max: 20 }),
          inMs: fc.integer({ min: -9, max: 9 }),
        }),
        { nil: undefined },
      ),
    });
    const law = fc.property(fc.array(anyFile, { maxLength: 12 }), (drawn) => {
      const files: File[] = drawn.map(({ failing: said, ...file }) =>
        said ? { ...file, failing: failing(said.tries, said.inMs) } : file,
      );
      const next = of(files);
      if (next.kind === "nothing") return files.length === 0;
      if (next.kind === "wait") return next.untilMs > now;
      return (
        next.files.length > 0 &&
        next.files.every((file) => (file.failing?.notBeforeMs ?? now) <= now) &&
        (next.files.length === 1 || next.files.every(({ kind }) => kind === "results"))
      );
    });
    expect(fc.check(law)).toMatchObject({ failed: false });
  });
});

test("each failure doubles the pause, and after some failures a file is set aside for an hour", () => {
  let state: Failing | undefined;
  const waits: number[] = [];
  for (let n = 0; n < triesUntilSetAside; n++) {
    expect(state !== undefined && isSetAside(state)).toBe(false);
    state = afterFailing(state, "internal", now, 1);
    waits.push((state.notBeforeMs - now) / 1_000);
  }
  expect(waits).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 3_600]);
  expect(state && isSetAside(state)).toBe(true);
  expect(
    setAsideOf([{ ...results, failing: state as Failing }, later, index], (f: File) => f.failing),
  ).toEqual({
    results: 400,
    indexes: 0,
    reports: 0,
    because: "internal",
  });
});
