import { acceptableMs } from "#size-classes/strategies/acceptable-time.ts";
import { exactly, type Measurement } from "../row.ts";

const exponents = [0.3, 0.5, 0.7];

/** As printed in Buildbarn's ADR #7: seconds for an action that takes a minute on class 8. */
const printed: readonly (readonly [sizeClass: number, row: string])[] = [
  [1, "112.0s | 169.7s | 257.2s"],
  [2, "90.9s | 120s | 158.3s"],
  [4, "73.9s | 84.9s | 97.5s"],
  [8, "60s | 60s | 60s"],
];

export const seedsTable: Measurement = {
  title: "the seed's table",
  long: false,
  async measure() {
    return printed.map(([sizeClass, row]) => {
      const computed = exponents.map((x) => acceptableMs(60_000, 8, sizeClass, x));
      return exactly(
        `the seed's table: acceptable on class ${sizeClass} with x = ${exponents.join(", ")}`,
        computed.map(asPrinted).join(" | "),
        row,
        "",
        "T_largest · (S_largest / S_smaller)^x, for one minute on class 8",
      );
    });
  },
};

/** One decimal; none for a time in whole seconds. */
function asPrinted(ms: number): string {
  const seconds = ms / 1_000;
  return `${Number.isInteger(seconds) ? seconds : seconds.toFixed(1)}s`;
}
