import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { bazelrcFiles } from "./bazelrc-files.ts";

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "grange-bazelrc-"));
});
afterEach(() => rmSync(root, { recursive: true }));

function write(path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}

const found = (directory: string) =>
  bazelrcFiles(join(root, directory), join(root, "home"), join(root, "system.bazelrc"))
    .map(({ path }) => path)
    .filter((path) => path.startsWith(root))
    .map((path) => path.slice(root.length + 1));

test("finds the files of the system, the user and the workspace, from any directory in it", () => {
  write("system.bazelrc", "");
  write("home/.bazelrc", "");
  write("w/.bazelrc", "");
  mkdirSync(join(root, "w/below/here"), { recursive: true });

  expect(found("w/below/here")).toEqual(["system.bazelrc", "home/.bazelrc", "w/.bazelrc"]);
});

test("follows imports, each once, and skips missing files", () => {
  write("home/.bazelrc", "try-import %workspace%/mine.bazelrc\n");
  write(
    "w/.bazelrc",
    `import '%workspace%/ci/all.bazelrc'\n  try-import ${root}/none\n#import /x\n`,
  );
  write("w/mine.bazelrc", "");
  write("w/ci/all.bazelrc", "import %workspace%/.bazelrc\nimport %workspace%/ci\n");

  expect(found("w")).toEqual(["home/.bazelrc", "w/mine.bazelrc", "w/.bazelrc", "w/ci/all.bazelrc"]);
});
