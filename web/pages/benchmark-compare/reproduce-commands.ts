import type { CaseComparison, Comparison } from "#api/benchmark-comparison.ts";

/** Returns commands to reproduce a result: with the farm's data, and with a measurement on the user's machine. */
export function reproduceCommands(
  { suite, before, after, metric }: Pick<Comparison, "suite" | "before" | "after" | "metric">,
  of: CaseComparison,
): { readonly shown: string; readonly text: string }[] {
  const { backend, benchmark, profile, scenario, section } = of.case;
  const only = [
    `--suite ${suite} --section ${section} --benchmark ${benchmark}`,
    profile === "" ? "" : `--profile ${profile}`,
    scenario === "" ? "" : `--scenario ${scenario}`,
    `--backend ${backend}`,
  ]
    .filter((part) => part !== "")
    .join(" ");
  // Lowest values of noisy metrics are no evidence: both are run alternately.
  const isNoisy = of.evidence.by !== "fence";
  const stored = `grange bench compare ${before.tag} ${after.tag} --suite ${suite} --metric ${metric} --server`;
  const here = [before.tag, after.tag]
    .map((tag) => `grange bench run --artifact ${tag} ${only}`)
    .concat(
      `grange bench compare ${before.tag} ${after.tag} --suite ${suite}${isNoisy ? " --measure" : ""}`,
    )
    .join(" && ");
  return [
    { text: stored, shown: stored },
    { text: here, shown: "three commands that measure both on your machine" },
  ];
}
