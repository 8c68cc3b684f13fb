import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Fault } from "#core/fault.ts";
import { cacheAddressOf } from "./cache-address.ts";

describe("an address", () => {
  test.each([
    ["/cache/default/gradle/abc", "default", "gradle", ["abc"], false],
    ["/cache/default/ccache/ab/cd", "default", "ccache", ["ab", "cd"], false],
    ["/cache/default/sccache", "default", "sccache", [], true],
    ["/cache/default/sccache/", "default", "sccache", [], true],
    ["/cache/default/sccache/a/", "default", "sccache", ["a"], true],
    ["/cache/team/web/nx/v1/cache/1", "team/web", "nx", ["v1", "cache", "1"], false],
    ["/cache/team%2Fbazel/nx/v1", "team/bazel", "nx", ["v1"], false],
    ["/cache/nx/bazel/ac/0", "nx", "bazel", ["ac", "0"], false],
    ["/cache/default/gradle/a%62c", "default", "gradle", ["abc"], false],
  ] as const)("%s", (url, project, tool, path, isFolder) => {
    expect(cacheAddressOf(url)).toMatchObject({ project, tool, path, isFolder });
  });

  test("keeps its query apart", () => {
    const { path, query } = cacheAddressOf("/cache/p/turborepo/v8/artifacts/a?slug=farm&x=/../");

    expect(path).toEqual(["v8", "artifacts", "a"]);
    expect(query.get("slug")).toBe("farm");
  });
});

test.each([
  "/cache/",
  "/cache/default",
  "/cache/default/svn/a",
  "/cache/default/gradle/..",
  "/cache/default/gradle/%2e%2e/x",
  "/cache/default/gradle/a%2fb",
  "/cache/default/gradle/a%00b",
  "/cache/default/gradle/a%",
  "/cache/default/gradle/a%ff",
  "/cache/default/gradle/a//b",
  "/cache/default/gradle//",
  "/cache/default/gradle/a\\b",
  "/cache/default/gradle/a b",
  `/cache/default/gradle/${"a".repeat(256)}`,
  `/cache/default/gradle/${"a/".repeat(2_000)}`,
  "/cache/%/gradle/a",
])("%s is none", (url) => {
  expect(() => cacheAddressOf(url)).toThrow(Fault);
});

test("whatever is asked, a part is a plain name or the whole is refused", () => {
  const isPlain = (part: string) =>
    /^[A-Za-z0-9._@+=,~:-]+$/.test(part) && part !== "." && part !== "..";
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom(...Array.from("./%2eaAfF0\\:\0 é")), { maxLength: 12 }),
      (rest) => {
        let isRight: boolean;
        try {
          isRight = cacheAddressOf(`/cache/p/gradle/${rest.join("")}`).path.every(isPlain);
        } catch (reason) {
          isRight = reason instanceof Fault;
        }
        expect(isRight).toBe(true);
      },
    ),
  );
});
