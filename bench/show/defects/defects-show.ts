import type { Measurement, Show } from "../row.ts";
import { bazelOverRestarts } from "./bazel-over-restarts.ts";
import { findingsOfFaults } from "./faults-findings.ts";
import { type Finding, rowsOf } from "./finding.ts";
import { findingsOfGranaryAndClients } from "./granary-and-clients-findings.ts";
import { findingsOfSecurity } from "./security-findings.ts";

/** The defects that reviewers found at 22f0a19, tested again. */
export const defectsShow: Show = {
  name: "defects",
  measurements: [
    measuring("security", findingsOfSecurity),
    measuring("faults", findingsOfFaults),
    measuring("granary and clients", findingsOfGranaryAndClients),
    { title: "Bazel over restarts", long: false, measure: bazelOverRestarts },
  ],
};

function measuring(title: string, findings: readonly Finding[]): Measurement {
  return { title, long: false, measure: async () => await rowsOf(findings) };
}
