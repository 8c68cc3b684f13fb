import { compareSemVer, parseSemVer, type SemVer } from "#core/semver-order.ts";
import type { Suite } from "#suites/suite.ts";
import { type SuitePattern, suitePattern } from "#suites/suite-pattern.ts";
import type { Component, Components } from "./component.ts";
import { dateOfDay } from "./date-of-day.ts";

/** The registry's data about a package. */
export interface PublishedPackage {
  readonly package: string;
  readonly versions: readonly string[];
  /** The upload time of each version; ISO texts. */
  readonly time: Readonly<Record<string, string>>;
}

/** An artifact that exists, with the component of each backend. */
export interface KnownArtifact {
  readonly tag: string;
  readonly kind: "master" | "release" | "try";
  /** For a day's artifact, the day in its name; for a release, the time of its upload. */
  readonly datedAt: Date;
  /** The tag of the nearest earlier artifact that shares a backend with it. */
  readonly parent: string | null;
  readonly components: Components;
  readonly commit: string | null;
}

/** A version that serves a backend. */
export interface ServingVersion {
  readonly backend: string;
  readonly semver: SemVer;
  readonly component: Component;
  readonly uploadedAt: Date | undefined;
}

/** Returns all artifacts of a suite from npm: the main line, oldest day first, and releases, in semver's order. */
export function knownArtifacts(
  suite: Suite,
  published: readonly PublishedPackage[],
): KnownArtifact[] {
  if (suite.artifacts.from !== "npm") return [];
  const { master, release } = suite.artifacts;
  const serving = servingVersions(suite, published);
  const days = master === undefined ? undefined : suitePattern(master.versions);
  return [
    ...(master === undefined || days === undefined ? [] : masters(serving, days, master.tag)),
    ...(release === undefined ? [] : releases(serving, suitePattern(release.versions), days)),
  ];
}

/** Returns each backend's versions; when two packages have the same one, the first that the suite names counts. */
export function servingVersions(
  suite: Suite,
  published: readonly PublishedPackage[],
): ServingVersion[] {
  const byName = new Map(published.map((each) => [each.package, each]));
  return Object.entries(suite.backends).flatMap(([backend, { packages }]) =>
    packages.flatMap(({ npm, versions }) => {
      const only = versions === undefined ? undefined : suitePattern(versions);
      const { versions: all = [], time = {} } = byName.get(npm) ?? {};
      return all.flatMap((version): ServingVersion[] => {
        const semver = parseSemVer(version);
        if (semver === undefined || (only !== undefined && !only.match(version))) return [];
        const component = { kind: "npm", package: npm, version } as const;
        return [{ backend, semver, component, uploadedAt: dateOf(time, version) }];
      });
    }),
  );
}

/** Returns the day in a version's name; undefined when there is none. */
export function dayOf(days: SuitePattern | undefined, version: string): string | undefined {
  const date = days?.match(version)?.["date"];
  return date !== undefined && dateOfDay(date) !== undefined ? date : undefined;
}

function masters(
  serving: readonly ServingVersion[],
  days: SuitePattern,
  tag: string,
): KnownArtifact[] {
  const byDay = new Map<string, Map<string, ServingVersion>>();
  for (const version of serving) {
    const day = dayOf(days, version.semver.text);
    if (day === undefined) continue;
    const backends = byDay.get(day) ?? new Map<string, ServingVersion>();
    byDay.set(day, backends);
    const other = backends.get(version.backend);
    // A day may be published again, as `….2`; of two packages, the first in the suite is used.
    if (other === undefined || (samePackage(other, version) && isLater(version, other)))
      backends.set(version.backend, version);
  }
  return withParents(
    [...byDay]
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([day, backends]) => ({
        tag: tag.replaceAll("{date}", day),
        kind: "master",
        datedAt: dateOfDay(day) ?? undated,
        components: componentsOf(backends.values()),
        commit: null,
      })),
  );
}

function releases(
  serving: readonly ServingVersion[],
  pattern: SuitePattern,
  days: SuitePattern | undefined,
): KnownArtifact[] {
  const byVersion = new Map<string, ServingVersion[]>();
  for (const version of serving) {
    const { text } = version.semver;
    if (!pattern.match(text) || dayOf(days, text) !== undefined) continue;
    const others = byVersion.get(text) ?? [];
    if (others.every(({ backend }) => backend !== version.backend))
      byVersion.set(text, [...others, version]);
  }
  return withParents(
    [...byVersion.values()]
      .flatMap((versions) => (versions[0] === undefined ? [] : [{ first: versions[0], versions }]))
      .toSorted((a, b) => compareSemVer(a.first.semver, b.first.semver))
      .map(({ first, versions }) => ({
        tag: first.semver.text,
        kind: "release",
        datedAt: first.uploadedAt ?? undated,
        components: componentsOf(versions),
        commit: null,
      })),
  );
}

/** For releases without a time in the registry. */
export const undated = new Date("2000-01-01T00:00:00Z");

export function componentsOf(versions: Iterable<ServingVersion>): Components {
  return Object.fromEntries([...versions].map(({ backend, component }) => [backend, component]));
}

function withParents(line: readonly Omit<KnownArtifact, "parent">[]): KnownArtifact[] {
  const lastWith = new Map<string, number>();
  return line.map((artifact, index) => {
    const backends = Object.keys(artifact.components);
    const parent = Math.max(-1, ...backends.map((backend) => lastWith.get(backend) ?? -1));
    for (const backend of backends) lastWith.set(backend, index);
    return { ...artifact, parent: line[parent]?.tag ?? null };
  });
}

function samePackage(a: ServingVersion, b: ServingVersion): boolean {
  return (
    a.component.kind === "npm" &&
    b.component.kind === "npm" &&
    a.component.package === b.component.package
  );
}

function isLater(a: ServingVersion, b: ServingVersion): boolean {
  return compareSemVer(a.semver, b.semver) > 0;
}

function dateOf(time: Readonly<Record<string, string>>, version: string): Date | undefined {
  if (!Object.hasOwn(time, version)) return undefined;
  const date = new Date(time[version] ?? "");
  return Number.isNaN(date.getTime()) ? undefined : date;
}
