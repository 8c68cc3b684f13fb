import { exactly, type Measurement } from "../row.ts";
import { runTests } from "../run-tests.ts";

export const everyHistory: Measurement = {
  title: "random graphs, random events",
  long: false,
  async measure() {
    const results = await runTests("src/graphs/advancing/step-by-step.test.ts");
    const [bad] = results.filter(({ passed }) => !passed);
    return [
      exactly(
        "10,000 random graphs × up to 40 events: state kept step by step = computed from scratch",
        bad === undefined ? "equal" : "differs",
        "equal",
        "",
        bad?.why ??
          "runs, failures, retriggers, patches of wishes, waivers, cancellations, lost workers",
      ),
    ];
  },
};
