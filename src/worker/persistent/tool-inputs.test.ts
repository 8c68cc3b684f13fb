import { expect, test } from "vitest";
import { digestOf } from "#cas/digest-of.ts";
import type { InputDirectory } from "../input-root/input-directory.ts";
import { fileAt, hashOfTools, inputsOfRequest } from "./tool-inputs.ts";

const digest = (text: string) => digestOf(Buffer.from(text));

function tree(tool: string, input: string, executable = false): InputDirectory {
  const directory = (parts: Partial<InputDirectory>): InputDirectory => ({
    digest: digest(JSON.stringify(parts)),
    files: [],
    symlinks: [],
    directories: [],
    entryCount: 0,
    depth: 0,
    ...parts,
  });
  const bin = directory({
    files: [{ name: "tool", digest: digest(tool), executable, isTool: true }],
    symlinks: [{ name: "link", target: "tool" }],
  });
  return directory({
    files: [{ name: "input", digest: digest(input), executable: false }],
    directories: [
      { name: "bin", directory: bin },
      { name: "empty", directory: directory({}) },
    ],
  });
}

test("only changed tools change the hash of the tools", () => {
  const hash = hashOfTools(tree("t", "i"));

  expect(hashOfTools(tree("t", "another input"))).toBe(hash);
  expect(hashOfTools(tree("another tool", "i"))).not.toBe(hash);
  expect(hashOfTools(tree("t", "i", true))).not.toBe(hash);
});

test("a tree without tools has no hash", () => {
  expect(hashOfTools({ ...tree("t", "i"), directories: [] })).toBeUndefined();
});

test("a request lists all files with their paths", () => {
  expect(inputsOfRequest(tree("t", "i"))).toEqual([
    { path: "input", digest: digest("i").hash },
    { path: "bin/tool", digest: digest("t").hash },
  ]);
});

test.each(["bin", "bin/link", "gone/tool", "bin/../input", "", "/input"])(
  "there is no file at %j",
  (path) => {
    expect(fileAt(tree("t", "i"), path)).toBeUndefined();
  },
);

test("a file is found at its path", () => {
  expect(fileAt(tree("t", "i"), "bin/tool")).toEqual(digest("t"));
});
