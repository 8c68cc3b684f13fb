import { exactly, type Measurement } from "../row.ts";
import { runTests } from "../run-tests.ts";

/** Schemathesis over the OpenAPI document, as four principals. */
export const documentedAnswers: Measurement = {
  title: "requests made from the OpenAPI document",
  long: false,
  async measure() {
    const tests = await runTests("test/schemathesis/schemathesis.test.ts");
    const bad = tests.filter(({ passed }) => !passed);
    return [
      exactly(
        "schemathesis: principals that get documented answers only, and no 500",
        tests.length - bad.length,
        4,
        "of 4",
        `about 700 requests as each principal, with GRANGE_SCHEMATHESIS naming the program; ${bad.map(({ title, why }) => `${title}: ${why}`).join("; ") || "none failed"}`,
      ),
    ];
  },
};
