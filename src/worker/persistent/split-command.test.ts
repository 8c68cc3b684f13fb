import { expect, test } from "vitest";
import { argumentsOfRequest, splitWorkerCommand } from "./split-command.ts";

test.each(["@a/flags", "--flagfile=a/flags", "-flagfile=a/flags"])(
  "the process starts without %s",
  (flag) => {
    expect(splitWorkerCommand(["tool", "--jvm", flag])?.startup).toEqual([
      "tool",
      "--jvm",
      "--persistent_worker",
    ]);
  },
);

test.each([
  ["no file of arguments", ["tool", "a"]],
  ["a file of arguments in the middle", ["tool", "@flags", "a"]],
  ["two files of arguments", ["tool", "@one", "@two"]],
  ["an escaped argument", ["tool", "@@flags"]],
  ["a label", ["tool", "@repository//package:target"]],
  ["nothing to start", ["@flags"]],
])("a command with %s is not divided", (_, argv) => {
  expect(splitWorkerCommand(argv)).toBeUndefined();
});

const read = (files: Readonly<Record<string, string>>) => async (path: string) => files[path];

test("the lines of a file are arguments, and those of the files that it names", async () => {
  const files = { flags: "a\r\n@more\n@@b\n@rules//x\n\nlast", more: "c\nd\n" };

  expect(await argumentsOfRequest({ kind: "lines-of", path: "flags" }, read(files))).toEqual([
    "a",
    "c",
    "d",
    "@@b",
    "@rules//x",
    "",
    "last",
  ]);
});

test("the process itself reads a file that it gets as an option", async () => {
  const flag = { kind: "as-it-is", argument: "--flagfile=f" } as const;

  expect(await argumentsOfRequest(flag, read({}))).toEqual(["--flagfile=f"]);
});

test.each([
  ["is missing", { flags: "@gone" }],
  ["names itself", { flags: "@flags" }],
])("there is no request when a file %s", async (_, files) => {
  expect(
    await argumentsOfRequest({ kind: "lines-of", path: "flags" }, read(files)),
  ).toBeUndefined();
});
