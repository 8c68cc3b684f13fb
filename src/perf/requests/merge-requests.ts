import type { Suite } from "#suites/suite.ts";
import type { Request } from "./plan-request.ts";

/**
 * Combines two requests. An empty list means the suite's defaults, so it is written out when the other request names
 * something else; for benchmarks and targets it means all.
 */
export function mergeRequests(suite: Suite, one: Request, other: Request): Request {
  const usualBackends = Object.keys(suite.backends).filter((name) => suite.backends[name]?.default);
  const sections = [suite.compile, suite.runtime, suite.toolchain];
  const defaultProfiles = sections.flatMap((section) =>
    Object.entries(section?.profiles ?? {}).flatMap(([name, profile]) =>
      profile.default ? [name] : [],
    ),
  );
  return {
    backends: union(one.backends, other.backends, usualBackends),
    profiles: union(one.profiles, other.profiles, defaultProfiles),
    targets: unionOfAll(one.targets, other.targets),
    benchmarks: unionOfAll(one.benchmarks, other.benchmarks),
    paired: one.paired || other.paired,
    // The larger number of runs includes the smaller.
    runs: one.runs === null ? other.runs : Math.max(one.runs, other.runs ?? 0),
  };
}

export function isSameRequest(one: Request, other: Request): boolean {
  return textOf(one) === textOf(other);
}

function textOf({ backends, profiles, targets, benchmarks, paired, runs }: Request): string {
  return JSON.stringify([
    backends.toSorted(),
    profiles.toSorted(),
    targets.toSorted(),
    benchmarks.toSorted(),
    paired,
    runs,
  ]);
}

function union(one: readonly string[], other: readonly string[], usual: readonly string[]) {
  if (one.length === 0 && other.length === 0) return [];
  const named = (list: readonly string[]) => (list.length === 0 ? usual : list);
  const both = [...new Set([...named(one), ...named(other)])].toSorted();
  const isUsual = both.length === new Set(usual).size && usual.every((name) => both.includes(name));
  return isUsual ? [] : both;
}

function unionOfAll(one: readonly string[], other: readonly string[]): string[] {
  return one.length === 0 || other.length === 0 ? [] : [...new Set([...one, ...other])].toSorted();
}
