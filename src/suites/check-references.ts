import type { Section } from "#core/test-case.ts";
import { checkSection } from "./check-section.ts";
import { checkPattern, checkWords, findingAt, known } from "./finding.ts";
import type { MetricSource, Suite } from "./suite.ts";
import { suiteLimits } from "./suite-limits.ts";
import type { Finding } from "./suite-problems.ts";

const sections: readonly Section[] = ["compile", "runtime", "toolchain"];

/**
 * Checks the rules that a schema cannot express: unknown names, invalid patterns, and benchmarks that could never be
 * measured.
 */
export function checkReferences(suite: Suite): Finding[] {
  return [
    ...checkCounts(suite),
    ...checkArtifacts(suite),
    ...checkBackends(suite),
    ...Object.entries(suite.metrics).flatMap(([name, { take, sections: only }]) => [
      ...checkMetric(["metrics", name, "take"], take),
      ...(only ?? []).flatMap((section, index) =>
        suite[section] === undefined
          ? [findingAt(["metrics", name, "sections", index], `the suite has no section ${section}`)]
          : [],
      ),
    ]),
    ...(Object.hasOwn(suite.metrics, suite.headline)
      ? []
      : [
          findingAt(
            ["headline"],
            `there is no metric ${suite.headline}; ${known(suite.metrics, "the metrics")}`,
          ),
        ]),
    ...sections.flatMap((name) => {
      const section = suite[name];
      return section === undefined ? [] : checkSection(name, section, Object.keys(suite.backends));
    }),
    ...checkRounds(suite.pairs.rounds),
  ];
}

function checkCounts(suite: Suite): Finding[] {
  const found: Finding[] = [];
  const count = (path: readonly PropertyKey[], words: object, most: number) => {
    const amount = Object.keys(words).length;
    if (amount > most)
      found.push(findingAt(path, `has ${amount} entries; at most ${most} are taken`));
  };
  const atLeastOne = (key: "backends" | "targets" | "metrics", most: number) => {
    if (Object.keys(suite[key]).length === 0)
      found.push(findingAt([key], "names none; name one at least"));
    count([key], suite[key], most);
    found.push(...checkWords([key], suite[key]));
  };
  atLeastOne("backends", suiteLimits.backends);
  atLeastOne("targets", suiteLimits.targets);
  atLeastOne("metrics", suiteLimits.metrics);
  if (sections.every((name) => suite[name] === undefined))
    found.push(findingAt([], "has no section; write compile, runtime or toolchain"));
  if (Object.values(suite.backends).every((backend) => !backend.default))
    found.push(findingAt(["backends"], "by default none is used; one must be"));
  let cases = 0;
  for (const name of sections) {
    const section = suite[name];
    if (section === undefined) continue;
    count([name, "benchmarks"], section.benchmarks, suiteLimits.benchmarks);
    count([name, "profiles"], section.profiles, suiteLimits.profiles);
    count([name, "scenarios"], section.scenarios, suiteLimits.scenarios);
    const of = (words: object) => Math.max(1, Object.keys(words).length);
    cases += of(section.benchmarks) * of(section.profiles) * of(section.scenarios);
  }
  cases *= Object.keys(suite.backends).length * Object.keys(suite.targets).length;
  if (cases > suiteLimits.cases)
    found.push(
      findingAt([], `has up to ${cases} test cases; at most ${suiteLimits.cases} are taken`),
    );
  return found;
}

function checkArtifacts({ artifacts }: Suite): Finding[] {
  const found: Finding[] = [];
  if (artifacts.from === "npm") {
    const { master, release } = artifacts;
    if (master !== undefined) {
      const path = ["artifacts", "master", "versions"];
      found.push(
        ...checkPattern(path, master.versions, ({ names }) =>
          names.includes("date") ? undefined : "has no group (?<date>…) for the day",
        ),
      );
      if (!master.tag.includes("{date}"))
        found.push(
          findingAt(["artifacts", "master", "tag"], "must have {date} in it, or all days are one"),
        );
      else if (!/^[A-Za-z0-9][A-Za-z0-9._+/-]*$/.test(master.tag.replaceAll("{date}", "0")))
        found.push(
          findingAt(
            ["artifacts", "master", "tag"],
            "has letters, digits and . _ + / - only, besides {date}",
          ),
        );
    }
    if (release !== undefined)
      found.push(...checkPattern(["artifacts", "release", "versions"], release.versions));
  }
  if (artifacts.from === "git" && artifacts.release !== undefined)
    found.push(...checkPattern(["artifacts", "release", "tags"], artifacts.release.tags));
  return found;
}

function checkBackends({ artifacts, backends }: Suite): Finding[] {
  return Object.entries(backends).flatMap(([name, backend]) => {
    const path = ["backends", name];
    const found: Finding[] = [];
    if (artifacts.from === "npm" && backend.packages.length === 0)
      found.push(findingAt(path, "names no packages, so no artifact has it"));
    if (artifacts.from !== "npm" && backend.packages.length > 0)
      found.push(findingAt([...path, "packages"], "are of use only where artifacts come from npm"));
    const unsaid = backend.packages.some(({ tool }) => tool === undefined);
    if (backend.tool === undefined && (unsaid || backend.packages.length === 0))
      found.push(findingAt(path, "has no tool: describe how to call it"));
    backend.packages.forEach(({ versions }, index) => {
      if (versions !== undefined)
        found.push(...checkPattern([...path, "packages", index, "versions"], versions));
    });
    return found;
  });
}

function checkMetric(path: readonly PropertyKey[], take: MetricSource): Finding[] {
  if (take.from === "output")
    return checkPattern([...path, "pattern"], take.pattern, ({ groups }) =>
      groups === 0 ? "has no group; put ( ) around the number" : undefined,
    );
  if (take.from === "json" && !/^(\/([^~/]|~[01])*)*$/.test(take.pointer))
    return [findingAt([...path, "pointer"], "is not a JSON pointer such as /result/seconds")];
  if (take.from === "size" && !isPlaceBelow(take.of))
    return [
      findingAt(
        [...path, "of"],
        "must be {artifact}, {out}, {source} or {state}, or a path below one",
      ),
    ];
  return [];
}

function isPlaceBelow(path: string): boolean {
  const [place = "", ...rest] = path.split("/");
  return /^\{(artifact|out|source|state)\}$/.test(place) && !rest.includes("..");
}

function checkRounds(rounds: readonly number[]): Finding[] {
  return rounds.flatMap((round, index) =>
    round > (rounds[index - 1] ?? 0)
      ? []
      : [findingAt(["pairs", "rounds", index], "must be greater than the one before")],
  );
}
