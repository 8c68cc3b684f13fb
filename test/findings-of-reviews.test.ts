import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { findingsOfFaults } from "../bench/show/defects/faults-findings.ts";
import { findingsOfGranaryAndClients } from "../bench/show/defects/granary-and-clients-findings.ts";
import { findingsOfSecurity } from "../bench/show/defects/security-findings.ts";

const root = join(import.meta.dirname, "..");
const findings = [...findingsOfSecurity, ...findingsOfFaults, ...findingsOfGranaryAndClients];

/** The parts of a pattern between bars that are in no group. */
function alternatives({ source, flags }: RegExp): RegExp[] {
  return source.split(/\|(?![^(]*\))/).map((part) => new RegExp(part, flags));
}

test.each(findings)("$id names tests that exist", ({ tests }) => {
  const missing = tests.flatMap(({ file, titled }) => {
    const text = readFileSync(join(root, file), "utf8");
    const patterns = titled === undefined ? [] : alternatives(titled);
    return (
      patterns
        // Titles begin anywhere in the text of a file.
        .filter(({ source, flags }) => !new RegExp(source.replace(/^\^/, ""), flags).test(text))
        .map(({ source }) => `${file}: ${source}`)
    );
  });

  expect(missing).toEqual([]);
});
