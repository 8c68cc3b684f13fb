import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { encodeCsexp, parseCsexp } from "./csexp.ts";
import { DuneDigest } from "./dune-digest.ts";
import { DuneReader, encodeDedup, isInside, readMessage } from "./dune-protocol.ts";

const key = DuneDigest.parse("abbb2ff0d1d3d587ddfb94a69e0fd70e");
const other = DuneDigest.parse("08f656381f9efb9c2da435922eade4a2");

function said(one: Parameters<typeof encodeCsexp>[0]) {
  return readMessage(parseCsexp(encodeCsexp(one)));
}

describe("parses dune's messages:", () => {
  test("its build directory", () => {
    expect(said(["set-build-root", "/home/a b/_build"])).toEqual({
      kind: "set-build-root",
      directory: "/home/a b/_build",
    });
  });

  test.each(["relative", "", "/with\0zero"])("but not that it builds in %j", (directory) => {
    expect(said(["set-build-root", directory])).toMatchObject({ kind: "unknown" });
  });

  test("no repository, and nested ones", () => {
    const repository = (directory: string) => [
      ["dir", directory],
      ["remote", ""],
      ["commit_id", "853efcc9287fc67e9f7b4d407b49567c4d6221cd"],
    ];

    expect(said(["set-repos"])).toEqual({ kind: "set-repos", repositories: [] });
    expect(said(["set-repos", repository("/a"), repository("/a/b")])).toMatchObject({
      repositories: [{ directory: "/a" }, { directory: "/a/b" }],
    });
  });

  test("a promotion, with its fields in any order", () => {
    const fields = [
      ["key", key],
      ["files", ["default/a.cmx", key], [".aliases/b", other]],
      ["metadata", []],
      ["repo", "1"],
      ["duplication", "copy"],
    ];
    fc.assert(
      fc.property(fc.shuffledSubarray(fields, { minLength: fields.length }), (shuffled) => {
        expect(said(["promote", ...shuffled])).toEqual({
          kind: "promote",
          key,
          files: [
            { path: "default/a.cmx", digest: key },
            { path: ".aliases/b", digest: other },
          ],
          repository: 1,
          duplication: "copy",
        });
      }),
    );
  });

  test.each([
    ["a path that leaves the build directory", "default/../../etc/passwd", key],
    ["an absolute path", "/etc/passwd", key],
    ["a digest that is a path", "default/a", "../../../../../../etc/passwd00000"],
  ])("but not a promotion with %s", (_, path, digest) => {
    expect(said(["promote", ["key", key], ["files", [path, digest]]])).toEqual({
      kind: "unknown",
      name: "promote",
    });
  });

  test("keys that are announced, or already stored", () => {
    expect(said(["hint", key, "no key", other])).toEqual({ kind: "hint", keys: [key, other] });
    expect(said(["promoted", ["key", key]])).toEqual({ kind: "promoted", key });
  });

  test("ignores unknown messages", () => {
    expect(said(["set-common-metadata", ["a"]])).toMatchObject({ kind: "unknown" });
    expect(said("atom")).toMatchObject({ kind: "unknown" });
    expect(said([])).toMatchObject({ kind: "unknown" });
  });
});

test("any well-formed expression is a known or unknown message, and never an error", () => {
  const { one } = fc.letrec<{ one: never }>((tie) => ({
    one: fc.oneof(
      { maxDepth: 4 },
      fc.constantFrom("lang", "promote", "key", "files", "set-repos", "dir", "1", key as string),
      fc.array(tie("one"), { maxLength: 5 }),
    ) as never,
  }));
  fc.assert(
    fc.property(one, (expression) => {
      expect(said(expression).kind).toMatch(/^[a-z-]+$/);
    }),
    { numRuns: 1_000 },
  );
});

test("several messages in one packet are separate messages", () => {
  const reader = new DuneReader();
  const lang = encodeCsexp(["lang", "dune-cache-protocol", ["1", "2"]]);
  const bytes = Buffer.concat([lang, encodeCsexp(["set-repos"])]);

  expect(reader.push(bytes.subarray(0, 50)).map(({ kind }) => kind)).toEqual(["lang"]);
  expect(reader.push(bytes.subarray(50)).map(({ kind }) => kind)).toEqual(["set-repos"]);
});

test("a dedup message has dune's own form", () => {
  const text = encodeDedup({ path: "default/a", digest: key }).toString();

  expect(text).toBe(`(5:dedup(9:default/a32:${key}))`);
});

test("only paths inside the directory are accepted", () => {
  expect(["a", "a/b", ".aliases/default/x", "..a"].every(isInside)).toBe(true);
  expect(["", "/a", "a//b", "a/./b", "..", "a/..", "a\0b"].some(isInside)).toBe(false);
});
