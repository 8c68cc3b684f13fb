import { describe, expect, test } from "vitest";
import { buildDirectoryTree } from "./build-directory-tree.ts";
import { digestOf } from "./digest-of.ts";
import { mergeTrees } from "./merge-trees.ts";
import type { TreeEntry } from "./tree-entry.ts";

const file = (path: string, text: string): TreeEntry => ({
  kind: "file",
  path,
  digest: digestOf(Buffer.from(text)),
  executable: false,
});

describe("mergeTrees", () => {
  test("puts outputs of jobs at their places among the files of a commit", () => {
    const merged = mergeTrees(
      [file("src/a", "1")],
      [
        { at: "dist", from: 'job "build"', entries: [file("a.js", "2")] },
        { at: "", from: 'job "docs"', entries: [file("README", "3")] },
      ],
    );

    expect(merged).toEqual([file("README", "3"), file("dist/a.js", "2"), file("src/a", "1")]);
  });

  test("lets an output win over a file of the commit", () => {
    const merged = mergeTrees(
      [file("gen/a", "old"), file("gen/b", "kept")],
      [{ at: "gen", from: 'job "gen"', entries: [file("a", "new")] }],
    );

    expect(merged).toEqual([file("gen/a", "new"), file("gen/b", "kept")]);
  });

  test("takes the same thing from two jobs", () => {
    const entries = [file("a", "same")];

    expect(
      mergeTrees(
        [],
        [
          { at: "", from: "one", entries },
          { at: "", from: "other", entries },
        ],
      ),
    ).toEqual(entries);
  });

  test("refuses different things from two jobs, and names both", () => {
    expect(() =>
      mergeTrees(
        [],
        [
          { at: "out", from: 'job "one"', entries: [file("a", "1")] },
          { at: "out", from: 'job "other"', entries: [file("a", "2")] },
        ],
      ),
    ).toThrow('"out/a" comes from job "one" and, with other content, from job "other"');
  });

  test.each(["..", "/abs", "a/../..", "a//b"])("a place such as %j builds no tree", (at) => {
    const merged = mergeTrees([], [{ at, from: "job", entries: [file("a", "1")] }]);

    expect(() => buildDirectoryTree(merged)).toThrow(/"\.\."|absolute|empty/);
  });
});
