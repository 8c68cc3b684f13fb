import type { Measurement, Row } from "../row.ts";
import { runTests } from "../run-tests.ts";

/** The fourteen tests of LWR's questions, by their letters. */
const letters = "abcdefghijklmn".split("");

export const acceptance: Measurement = {
  title: "what LWR asked: acceptance tests a to n",
  long: false,
  async measure() {
    const results = await runTests("test/acceptance");
    return letters.map((letter): Row => {
      const ours = results.filter(({ title }) => title.startsWith(`${letter}) `));
      const [bad] = ours.filter(({ passed }) => !passed);
      const passed = ours.length > 0 && bad === undefined;
      return {
        name: ours[0]?.title ?? `${letter})`,
        figure: passed ? "passes" : "fails",
        unit: "",
        goal: "passes",
        holds: passed,
        how: passed ? "npx vitest run test/acceptance" : (bad?.why ?? "there is no such test"),
      };
    });
  },
};
