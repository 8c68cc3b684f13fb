import type { Measurement } from "../row.ts";
import { runTests } from "../run-tests.ts";

/** Undeclared inputs that ten and more example jobs read. */
export const undeclaredInputs: Measurement = {
  title: "undeclared inputs",
  long: false,
  async measure() {
    const tests = await runTests("src/local-run/trace-inputs.test.ts");
    const failed = tests.filter(({ passed }) => !passed);
    return [
      {
        name: "undeclared inputs: tests of what the tool finds and what it does not claim",
        figure: `${tests.length - failed.length} of ${tests.length}`,
        unit: "",
        goal: "all; 10 planted found, 0 false",
        holds: failed.length === 0 && tests.length > 0,
        how: [
          "vitest run src/local-run/trace-inputs.test.ts, which plants inputs in jobs of more than ten kinds",
          ...failed.map(({ title, why }) => `${title}: ${why}`),
        ].join("; "),
      },
    ];
  },
};
