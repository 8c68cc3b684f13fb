import { posix } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  assertContainedSymlink,
  assertLegalPath,
  problemOfContainedTarget,
  problemOfPath,
  problemOfTarget,
} from "./path-rules.ts";

describe("a path", () => {
  test.each([
    "a",
    "src/a.ts",
    ".grange/jobs.yaml",
    "..a/b..",
    "a b/ü/文件/😀",
    "-rf",
    "a\nb",
    `${"x".repeat(255)}/y`,
    "__proto__",
    "constructor/toString",
  ])("may be %j", (path) => {
    expect(problemOfPath(path)).toBeUndefined();
  });

  test.each([
    ["", "empty"],
    ["/", "absolute"],
    ["/etc/passwd", "absolute"],
    ["//server/share", "absolute"],
    ["..", '".."'],
    ["../a", '".."'],
    ["a/../b", '".."'],
    ["a/..", '".."'],
    [".", '"."'],
    ["./a", '"."'],
    ["a/./b", '"."'],
    ["a//b", "empty"],
    ["a/", "empty"],
    ["a\0b", "NUL"],
    ["a\\b", "backslash"],
    ["..\\..\\a", "backslash"],
    ["C:\\a", "backslash"],
    ["x".repeat(256), "longer"],
    ["ü".repeat(128), "longer"],
    ["a/".repeat(1_100) + "a", "longer"],
    ["\ud800", "Unicode"],
    ["a/\udc00b", "Unicode"],
  ])("may not be %j", (path, problem) => {
    expect(problemOfPath(path)).toContain(problem);
    expect(() => assertLegalPath(path)).toThrow(problem);
  });

  test("is legal exactly when a file system takes it for a place below", () => {
    const names = fc.constantFrom("a", "b", "..", ".", "", "\0", "x\\y", "ü");
    fc.assert(
      fc.property(fc.array(names, { minLength: 1, maxLength: 6 }), (parts) => {
        const path = parts.join("/");
        const isPlain = posix.normalize(path) === path && !path.endsWith("/") && path !== ".";
        const isBelow = !path.startsWith("..") && !path.startsWith("/");
        const isText = !path.includes("\0") && !path.includes("\\");

        expect(problemOfPath(path) === undefined).toBe(isPlain && isBelow && isText);
      }),
      { numRuns: 2_000 },
    );
  });
});

describe("a symlink", () => {
  test.each([
    ["a", "b"],
    ["a", "b/c"],
    ["a", "."],
    ["a", "./b//c/"],
    ["d/a", ".."],
    ["d/a", "../b"],
    ["d/e/a", "../../b"],
    ["d/e/a", ".././../b"],
    ["a", "..b/c"],
    ["self", "self"],
    ["a", "/"],
    ["a", "/etc/passwd"],
    ["d/a", "/usr/../bin//sh"],
  ])("%j may lead to %j", (path, target) => {
    expect(problemOfTarget(path, target)).toBeUndefined();
  });

  test.each([
    ["a", "", "empty target"],
    ["a", "..", "leads out"],
    ["a", "../b", "leads out"],
    ["a", "./../b", "leads out"],
    ["d/a", "../..", "leads out"],
    ["d/a", "../../d/b", "leads out"],
    ["d/a", "..//../b", "leads out"],
    ["d/a", "b/../../../c", "after a name"],
    ["a", "b/..", "after a name"],
    ["a", "up/../..", "after a name"],
    ["a", "b\0c", "NUL"],
    ["a", "..\\..\\b", "backslash"],
    ["a", "\udfff", "Unicode"],
    ["a", "x/".repeat(2_100), "longer"],
  ])("%j may not lead to %j", (path, target, problem) => {
    expect(problemOfTarget(path, target)).toContain(problem);
    expect(() => assertContainedSymlink(path, target)).toThrow(problem);
  });

  test("may not be absolute and longer than a path, or with a NUL", () => {
    expect(problemOfTarget("a", "/x".repeat(2_100))).toContain("longer");
    expect(problemOfTarget("a", "/b\0c")).toContain("NUL");
  });

  test("may not be absolute in a tree that is written outside of a sandbox", () => {
    expect(problemOfContainedTarget("a", "/etc")).toContain("absolute");
    expect(problemOfContainedTarget("d/a", "../b")).toBeUndefined();
    expect(() => assertContainedSymlink("a", "/")).toThrow("absolute");
  });

  test("never leads out of the root, whatever other legal links it passes", () => {
    const name = fc.constantFrom("a", "b", "c");
    const path = fc.array(name, { minLength: 1, maxLength: 4 }).map((p) => p.join("/"));
    const step = fc.constantFrom("a", "b", "c", "..", ".", "");
    const target = fc.array(step, { minLength: 1, maxLength: 6 }).map((p) => p.join("/"));
    const links = fc.array(fc.tuple(path, target), { maxLength: 8 });

    fc.assert(
      fc.property(links, (all) => {
        const legal = new Map(all.filter(([p, t]) => problemOfContainedTarget(p, t) === undefined));
        // A link cannot be below another link.
        for (const p of legal.keys()) {
          for (const q of legal.keys()) if (q.startsWith(`${p}/`)) legal.delete(q);
        }
        for (const p of legal.keys()) expect(leavesRoot(p, legal)).toBe(false);
      }),
      { numRuns: 5_000 },
    );
  });
});

/** Follows a path as the kernel does, one name at a time; every other name counts as a directory. */
function leavesRoot(path: string, links: ReadonlyMap<string, string>): boolean {
  let hops = 0;
  let at: string[] = [];
  const todo = path.split("/");
  while (todo.length > 0) {
    const name = todo.shift() ?? "";
    if (name === "" || name === ".") continue;
    if (name === "..") {
      if (at.length === 0) return true;
      at = at.slice(0, -1);
      continue;
    }
    const target = links.get([...at, name].join("/"));
    if (target === undefined) at = [...at, name];
    else if (++hops > 40) return false;
    else todo.unshift(...target.split("/"));
  }
  return false;
}
