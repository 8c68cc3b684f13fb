import { expect, test } from "vitest";
import { acceptableMs } from "./acceptable-time.ts";

/** The table of the seed, as printed there: one minute on class 8. */
const printed = [
  { sizeClass: 1, exponent: 0.3, seconds: 112.0 },
  { sizeClass: 1, exponent: 0.5, seconds: 169.7 },
  { sizeClass: 1, exponent: 0.7, seconds: 257.2 },
  { sizeClass: 2, exponent: 0.3, seconds: 90.9 },
  { sizeClass: 2, exponent: 0.5, seconds: 120 },
  { sizeClass: 2, exponent: 0.7, seconds: 158.3 },
  { sizeClass: 4, exponent: 0.3, seconds: 73.9 },
  { sizeClass: 4, exponent: 0.5, seconds: 84.9 },
  { sizeClass: 4, exponent: 0.7, seconds: 97.5 },
  { sizeClass: 8, exponent: 0.3, seconds: 60 },
  { sizeClass: 8, exponent: 0.5, seconds: 60 },
  { sizeClass: 8, exponent: 0.7, seconds: 60 },
];

test.each(printed)(
  "a minute on class 8 is $seconds s on class $sizeClass with x = $exponent",
  ({ sizeClass, exponent, seconds }) => {
    const acceptable = acceptableMs(60_000, 8, sizeClass, exponent);

    expect(Number((acceptable / 1000).toFixed(1))).toBe(seconds);
  },
);
