import { describe, expect, test } from "vitest";
import { changedBody, reducedBody, sourceOf } from "./branch-change.ts";

describe("what is said of a branch", () => {
  test("is laid over what was said before", () => {
    const before = { switches: { pgo: true, l10n: true }, priorityCap: 10 };

    const body = changedBody(before, ["pgo=off", "nightly"], { protect: true, param: ["level=3"] });

    expect(body).toEqual({
      switches: { pgo: "off", l10n: true, nightly: true },
      parameters: { level: 3 },
      priorityCap: 10,
      protected: true,
    });
  });

  test.each([
    { names: [], left: null },
    { names: ["pgo"], left: { priorityCap: 10, protected: true } },
    { names: ["cap", "pgo"], left: { protected: true } },
    { names: ["cap", "pgo", "protect"], left: null },
  ])("without $names, what is left is $left", ({ names, left }) => {
    const before = { switches: { pgo: true }, priorityCap: 10, protected: true };

    expect(reducedBody(before, names)).toEqual(left);
  });

  test("cannot lose what was never said", () => {
    expect(() => reducedBody({ switches: { pgo: true } }, ["pgp"])).toThrow(
      'this branch has no setting of "pgp"; see: grange branch show',
    );
  });
});

test.each([
  { written: "commit", source: { kind: "commit" } },
  { written: "pushed", source: { kind: "pushed" } },
  { written: "directory:/srv/defs", source: { kind: "directory", path: "/srv/defs" } },
  {
    written: "repository:https://example.org/defs.git@v2",
    source: { kind: "repository", repository: "https://example.org/defs.git", rev: "v2" },
  },
  {
    written: "repository:git@example.org:team/defs",
    source: { kind: "repository", repository: "git@example.org:team/defs", rev: "HEAD" },
  },
])("$written is a source of definitions", ({ written, source }) => {
  expect(sourceOf(written)).toEqual(source);
});

test("any other word is no source", () => {
  expect(() => sourceOf("elsewhere")).toThrow("write commit, pushed, directory:PATH");
});
