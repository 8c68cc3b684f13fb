import type { TestCase } from "#core/test-case.ts";

/** What tells a case from others of its benchmark. */
export function caseWords({ profile, scenario, backend, target }: TestCase): string {
  return [profile, scenario, backend, target].filter((word) => word !== "").join(" · ");
}

/** All of a case on one line; its section is said where it is not `compile`, which most are. */
export function caseTitle(of: TestCase): string {
  const section = of.section === "compile" ? "" : ` (${of.section})`;
  return `${of.benchmark}${section} ${caseWords(of)}`;
}
