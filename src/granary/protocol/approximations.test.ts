import fc from "fast-check";
import { expect, test } from "vitest";
import {
  type Candidate,
  readCandidates,
  withCandidate,
  writeCandidates,
} from "./approximations.ts";
import { readValue, writeValue } from "./result-value.ts";

const candidate = fc.record({
  key: fc.integer({ min: 0, max: 15 }).map(String),
  exact: fc.boolean(),
});

test("an approximation has eight candidates at most, the newest first, one of them exact", () => {
  fc.assert(
    fc.property(fc.array(candidate), (added) => {
      const all = added.reduce<Candidate[]>(withCandidate, []);
      expect(all.length).toBeLessThanOrEqual(8);
      expect(all[0]).toEqual(added.at(-1));
      expect(all.filter(({ exact }) => exact).length).toBeLessThanOrEqual(1);
      expect(new Set(all.map(({ key }) => key)).size).toBe(all.length);
      expect(readCandidates(writeCandidates(all))).toEqual(all);
    }),
  );
});

test("any bytes give candidates and outputs, or nothing", () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.uint8Array(),
        fc.json().map((text) => Buffer.from(text)),
      ),
      (bytes) => {
        expect(Array.isArray(readCandidates(bytes))).toBe(true);
        readValue(bytes);
      },
    ),
  );
  expect(readValue(writeValue([]))).toEqual([]);
});
