import fc from "fast-check";
import { expect, test } from "vitest";
import type { CheckAnnotation } from "../check-run.ts";
import { missingAnnotations } from "./check-body.ts";

const annotation: fc.Arbitrary<CheckAnnotation> = fc.record({
  path: fc.constantFrom("a.rs", "b.rs"),
  startLine: fc.integer({ min: 1, max: 3 }),
  endLine: fc.integer({ min: 1, max: 3 }),
  level: fc.constantFrom("notice", "warning", "failure"),
  message: fc.constantFrom("slower", "faster"),
});
const told = (one: CheckAnnotation) => ({
  path: one.path,
  start_line: one.startLine,
  end_line: one.endLine,
  annotation_level: one.level,
  message: one.message,
});

test("an incomplete list of annotations is completed, each annotation once", () => {
  fc.assert(
    fc.property(
      fc
        .array(annotation, { maxLength: 30 })
        .chain((wanted) => fc.tuple(fc.constant(wanted), fc.subarray(wanted))),
      ([wanted, known]) => {
        const missing = missingAnnotations(wanted, known.map(told));
        const sorted = (all: readonly CheckAnnotation[]) =>
          all.map((one) => JSON.stringify(told(one))).sort();
        expect(sorted([...known, ...missing])).toEqual(sorted(wanted));
      },
    ),
  );
});

test("annotations of others do not count as the farm's", () => {
  const one: CheckAnnotation = {
    path: "a",
    startLine: 1,
    endLine: 1,
    level: "notice",
    message: "x",
  };

  expect(missingAnnotations([one], [{ ...told(one), message: "y" }])).toEqual([one]);
});
