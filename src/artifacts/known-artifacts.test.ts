import { describe, expect, test } from "vitest";
import { smallSuite } from "#suites/suite.fixture.ts";
import { knownArtifacts, type PublishedPackage } from "./known-artifacts.ts";
import { resolveTag } from "./resolve-tag.ts";

const suite = smallSuite();

function packageWith(name: string, ...versions: string[]): PublishedPackage {
  return {
    package: name,
    versions,
    time: Object.fromEntries(
      versions.map((version, i) => [
        version,
        `2026-01-${String(i + 1).padStart(2, "0")}T00:00:00.000Z`,
      ]),
    ),
  };
}

const published = [
  packageWith(
    "compiler",
    "5.9.3",
    "5.10.0",
    "6.0.0-beta",
    "5.9.0-dev.20260530",
    "6.0.0-dev.20260601",
    "7.0.2",
    "7.1.0-dev.20260602.1",
    "6.0.0-dev.20261301",
  ),
  packageWith(
    "@compiler/old",
    "7.0.0-dev.20260601.2",
    "7.0.0-dev.20260601.10",
    "7.0.0-dev.20260604.1",
    "no version",
  ),
  packageWith("@compiler/new", "7.0.2", "7.1.0-dev.20260604.1", "7.1.0-dev.20260603.1"),
];
const known = knownArtifacts(suite, published);

describe("the main line", () => {
  const line = known.filter(({ kind }) => kind === "master");

  test("has a day for each date in a version, and no day that is none", () => {
    expect(
      line.map(({ tag, datedAt, parent }) => [tag, datedAt.toISOString().slice(0, 10), parent]),
    ).toEqual([
      ["nightly-20260530", "2026-05-30", null],
      ["nightly-20260601", "2026-06-01", "nightly-20260530"],
      ["nightly-20260603", "2026-06-03", "nightly-20260601"],
      ["nightly-20260604", "2026-06-04", "nightly-20260603"],
    ]);
  });

  test("has both backends of a day, its highest number, and of two packages the first", () => {
    const of = (tag: string) => line.find((artifact) => artifact.tag === tag)?.components;

    expect(of("nightly-20260601")).toEqual({
      js: { kind: "npm", package: "compiler", version: "6.0.0-dev.20260601" },
      native: { kind: "npm", package: "@compiler/old", version: "7.0.0-dev.20260601.10" },
    });
    expect(of("nightly-20260604")).toEqual({
      native: { kind: "npm", package: "@compiler/new", version: "7.1.0-dev.20260604.1" },
    });
  });

  test("follows what shares a backend with it", () => {
    const days = knownArtifacts(suite, [
      packageWith("compiler", "5.0.0-dev.20260101", "5.0.0-dev.20260103"),
      packageWith("@compiler/new", "7.0.0-dev.20260102.1"),
    ]);

    expect(days.map(({ parent }) => parent)).toEqual([null, null, "nightly-20260101"]);
  });
});

test("releases are in semver's order, dated by the registry", () => {
  const releases = known.filter(({ kind }) => kind === "release");

  expect(releases.map(({ tag, parent }) => [tag, parent])).toEqual([
    ["5.9.3", null],
    ["5.10.0", "5.9.3"],
    ["7.0.2", null],
  ]);
  expect(releases[1]?.datedAt).toEqual(new Date("2026-01-02"));
});

describe("a tag", () => {
  const resolve = (tag: string) => resolveTag(suite, known, published, tag);

  test.each([
    { tag: "nightly-20260603", kind: "master", parent: "nightly-20260601" },
    { tag: "5.9.3", kind: "release", parent: null },
    { tag: "6.0.0-beta", kind: "try", parent: "5.10.0" },
    { tag: "7.0.0-dev.20260601.2", kind: "try", parent: null },
    { tag: "7.0.0-dev.20260604.1", kind: "try", parent: "nightly-20260603" },
  ])("$tag is a $kind", ({ tag, kind, parent }) => {
    expect(resolve(tag)).toMatchObject({ tag, kind, parent });
  });

  test.each([
    {
      tag: "nightly-20260602",
      near: "nightly-20260530, nightly-20260601, nightly-20260603, nightly-20260604",
    },
    { tag: "5.9.4", near: "similar ones are 5.9.3" },
    { tag: "latest", near: "5.9.3, 5.10.0, 7.0.2" },
    { tag: "7.1.0-dev.20260602.1", near: "7.0.2" },
  ])("$tag is unknown, and what is near is told", ({ tag, near }) => {
    expect(() => resolve(tag)).toThrow(`has no artifact ${tag}`);
    expect(() => resolve(tag)).toThrow(near);
  });
});
