import type { TestCase } from "#core/test-case.ts";

/** Returns the words that distinguish a case from others of its benchmark. */
export function caseWords({ profile, scenario, backend, target }: TestCase): string {
  return [profile, scenario, backend, target].filter((word) => word !== "").join(" · ");
}

/** Returns a case on one line; its section is left out when it is `compile`, as for most. */
export function caseTitle(of: TestCase): string {
  const section = of.section === "compile" ? "" : ` (${of.section})`;
  return `${of.benchmark}${section} ${caseWords(of)}`;
}
