import { expect, test } from "vitest";
import { failed, succeededIn } from "./baseline.fixture.ts";
import { medianSuccessMs } from "./median.ts";

test.each([
  { of: [], wanted: undefined },
  { of: [3], wanted: 3 },
  { of: [30, 1], wanted: 15.5 },
  { of: [9, 1, 100], wanted: 9 },
  { of: [100, 9, 1, 10], wanted: 9.5 },
])("the median of $of is $wanted", ({ of, wanted }) => {
  expect(medianSuccessMs([failed, ...of.map(succeededIn)])).toBe(wanted);
});
