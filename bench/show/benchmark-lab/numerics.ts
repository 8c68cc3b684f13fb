import { atMost, forInformation, type Measurement } from "../row.ts";
import { runTests } from "../run-tests.ts";
import { compareWithOracle, findOracle } from "./numerics/compare-with-oracle.ts";

const goal = 1e-9;

export const numerics: Measurement = {
  title: "numerics",
  long: false,
  async measure() {
    const python = findOracle();
    if (python === undefined) {
      const tests = await runTests("src/statistics/oracle.test.ts");
      const failed = tests.filter(({ passed }) => !passed);
      return [
        atMost(
          "numerics: tests that disagree with kept answers of SciPy",
          failed.length,
          0,
          `of ${tests.length}`,
          "no Python with SciPy is here (GRANGE_TEST_PYTHON): 221 vectors with its answers stand in for it",
        ),
      ];
    }
    const agreements = await compareWithOracle(python);
    return [
      forInformation(
        "numerics: vectors",
        agreements.reduce((sum, { cases }) => sum + cases, 0),
        "generated, with a seed",
        "asked of ours and of SciPy",
      ),
      ...agreements.map(({ name, cases, largestDifference }) => ({
        ...atMost(
          `numerics: ${name}, the largest relative difference`,
          largestDifference,
          goal,
          "",
          `${cases} vectors, SciPy the oracle`,
        ),
        figure: largestDifference,
      })),
    ];
  },
};
