import { create } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { CommandSchema } from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { declaredOutputs, directoriesToMake } from "./declared-outputs.ts";

const command = (init: {
  outputPaths?: string[];
  outputFiles?: string[];
  outputDirectories?: string[];
  workingDirectory?: string;
}) => create(CommandSchema, init);

test("the newer list is the only one when it exists", () => {
  const declared = declaredOutputs(
    command({ outputPaths: ["f", "d"], outputFiles: ["f"], outputDirectories: ["d"] }),
  );

  expect(declared).toEqual([
    { path: "f", at: "f", kind: "either", isOld: false },
    { path: "d", at: "d", kind: "either", isOld: false },
  ]);
});

test("each of the older lists defines the kind, unless a path is in both", () => {
  const declared = declaredOutputs(
    command({ outputFiles: ["f", "both", "f"], outputDirectories: ["d", "both"] }),
  );

  expect(declared.map(({ path, kind, isOld }) => [path, kind, isOld])).toEqual([
    ["f", "file", true],
    ["both", "either", true],
    ["d", "directory", true],
  ]);
});

test("paths are below the working directory, and stay as they were written", () => {
  const declared = declaredOutputs(
    command({ outputPaths: ["a/b/", "", "c"], workingDirectory: "w/x" }),
  );

  expect(declared.map(({ path, at }) => [path, at])).toEqual([
    ["a/b/", "w/x/a/b"],
    ["", "w/x"],
    ["c", "w/x/c"],
  ]);
});

test.each([
  ["those that files lie in", { outputPaths: ["a/b/f", "a/g", "h"] }, ["a/b", "a"]],
  ["the working directory", { outputPaths: ["f"], workingDirectory: "w" }, ["w"]],
  ["those of the older list themselves", { outputDirectories: ["a/d", "e/"] }, ["a", "a/d", "e"]],
  [
    "those of the older list also beside the newer one",
    { outputPaths: ["a/d"], outputDirectories: ["a/d"] },
    ["a", "a/d"],
  ],
  ["none for what may be a file", { outputFiles: ["x"], outputDirectories: ["x"] }, []],
  ["none for the root", { outputPaths: [""] }, []],
])("directories are made before the command: %s", (_, init, expected) => {
  expect(directoriesToMake(command(init))).toEqual(expected);
});
