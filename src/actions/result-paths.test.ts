import { expect, test } from "vitest";
import { resultWith } from "./result.fixture.ts";
import { assertLegalOutputs } from "./result-paths.ts";

const files = (...paths: string[]) => ({ outputFiles: paths.map((path) => ({ path })) });
const folders = (...paths: string[]) => ({ outputDirectories: paths.map((path) => ({ path })) });
const link = (path: string, target: string) => ({ outputSymlinks: [{ path, target }] });

test.each<[string, Parameters<typeof resultWith>[0]]>([
  ["nothing", {}],
  ["usual outputs", { ...files("a", "b/c"), ...folders("d", "d2/e"), ...link("f/l", "../a") }],
  ["the whole directory", folders("")],
  ["a directory that ends with a slash", folders("a/b/")],
  [
    "a link in an old and a new field",
    { ...link("a", "b"), outputFileSymlinks: [{ path: "a", target: "b" }] },
  ],
  ["names that begin alike", files("a", "ab", "a.b/c")],
])("%s may be outputs", (_, init) => {
  expect(() => assertLegalOutputs(resultWith(init))).not.toThrow();
});

test.each<[string, Parameters<typeof resultWith>[0], string]>([
  ["an absolute file", files("/etc/passwd"), "absolute"],
  ["a file that climbs", files("../x"), '".."'],
  ["a file that climbs inside", files("a/../../x"), '".."'],
  ["a NUL", files("a\0b"), "NUL"],
  ["a backslash", files("..\\x"), "backslash"],
  ["an empty file path", files(""), "empty"],
  ["a trailing slash", files("a/"), "empty"],
  ["one file twice", files("a", "a"), "twice"],
  ["a file that is a directory", { ...files("a"), ...folders("a") }, "twice"],
  ["a file below a file", files("a/b", "a"), "below a file"],
  ["a file below a symlink", { ...files("l/passwd"), ...link("l", "x") }, "below a symlink"],
  ["a directory below a symlink", { ...folders("l/a/b"), ...link("l", "x") }, "below a symlink"],
  ["an absolute directory", folders("/"), "absolute"],
  ["one directory twice, once with a slash", folders("a", "a/"), "twice"],
  ["a directory that climbs", folders(".."), '".."'],
  ["a symlink that climbs", link("a/b", "../../c"), "leads out"],
  ["a symlink that climbs through another", link("a", "up/../../x"), "after a name"],
  ["a symlink to nothing", link("a", ""), "empty target"],
  [
    "two links at one path",
    { ...link("a", "b"), outputFileSymlinks: [{ path: "a", target: "c" }] },
    "twice",
  ],
  [
    "a symlink in an old field",
    { outputFileSymlinks: [{ path: "a", target: "" }] },
    "empty target",
  ],
  ["another old field", { outputDirectorySymlinks: [{ path: "a", target: ".." }] }, "leads out"],
])("%s may not", (_, init, problem) => {
  expect(() => assertLegalOutputs(resultWith(init))).toThrow(problem);
});
