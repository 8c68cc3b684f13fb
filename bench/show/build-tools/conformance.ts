import type { Measurement } from "../row.ts";
import { runTests } from "../run-tests.ts";

const path = "test/build-tools/conformance/conformance.test.ts";
/** With fewer tests, the protocol would not be covered. */
const fewest = 60;

/** Rules of the protocol on which clients depend, tested with another gRPC implementation on a complete farm. */
export const conformance: Measurement = {
  title: "conformance to REv2, as clients depend on it",
  long: false,
  async measure() {
    const results = await runTests(path);
    const kept = results.filter(({ passed }) => passed).length;
    const broken = results.find(({ passed }) => !passed);
    return [
      {
        name: "rules of REv2 that hold",
        figure: `${kept} of ${results.length}`,
        unit: "cases",
        goal: `all of ≥ ${fewest} cases`,
        holds: kept === results.length && kept >= fewest,
        how: broken === undefined ? path : `${broken.title}: ${broken.why}`,
      },
    ];
  },
};
