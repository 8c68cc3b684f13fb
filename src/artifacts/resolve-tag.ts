import { Fault } from "#core/fault.ts";
import { compareSemVer, parseSemVer, type SemVer } from "#core/semver-order.ts";
import type { Suite } from "#suites/suite.ts";
import { suitePattern } from "#suites/suite-pattern.ts";
import { dateOfDay } from "./date-of-day.ts";
import {
  componentsOf,
  dayOf,
  type KnownArtifact,
  type PublishedPackage,
  type ServingVersion,
  servingVersions,
  undated,
} from "./known-artifacts.ts";
import { nearTags } from "./near-tags.ts";

/**
 * Returns the artifact of a tag: of the main line, a release, or any exact version of a package, which is then a try
 * artifact.
 *
 * A version between two days follows the day before it; any other, the release before it. Throws `not_found` with
 * similar tags.
 */
export function resolveTag(
  suite: Suite,
  known: readonly KnownArtifact[],
  published: readonly PublishedPackage[],
  tag: string,
): KnownArtifact {
  const found = known.find((artifact) => artifact.tag === tag);
  if (found !== undefined) return found;
  const serving = servingVersions(suite, published).filter(({ semver }) => semver.text === tag);
  const first = serving[0];
  if (first === undefined) throw unknownTag(suite, known, published, tag);
  const backends = new Map<string, ServingVersion>();
  for (const version of serving)
    if (!backends.has(version.backend)) backends.set(version.backend, version);
  const components = componentsOf(backends.values());
  const day = dayIn(suite, tag);
  const datedAt = day ?? first.uploadedAt ?? undated;
  const before = (other: KnownArtifact) =>
    Object.keys(components).some((backend) => Object.hasOwn(other.components, backend)) &&
    (day === undefined
      ? other.kind === "release" && isLower(other.tag, first.semver)
      : other.kind === "master" && other.datedAt < day);
  return {
    tag,
    kind: "try",
    datedAt,
    parent: known.findLast(before)?.tag ?? null,
    components,
    commit: null,
  };
}

function isLower(tag: string, than: SemVer): boolean {
  const semver = parseSemVer(tag);
  return semver !== undefined && compareSemVer(semver, than) < 0;
}

function dayIn({ artifacts }: Suite, version: string): Date | undefined {
  if (artifacts.from !== "npm" || artifacts.master === undefined) return undefined;
  const day = dayOf(suitePattern(artifacts.master.versions), version);
  return day === undefined ? undefined : dateOfDay(day);
}

function unknownTag(
  suite: Suite,
  known: readonly KnownArtifact[],
  published: readonly PublishedPackage[],
  tag: string,
): Fault {
  const tags = known.map((artifact) => artifact.tag);
  const near = nearTags(
    tag,
    tags.length === 0 ? published.flatMap(({ versions }) => versions) : tags,
  );
  const says = near.length === 0 ? "it has none" : `similar ones are ${near.join(", ")}`;
  return new Fault(
    "not_found",
    `suite ${suite.suite} has no artifact ${tag}, and no package has this version; ${says}`,
  );
}
