import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import {
  defaultTools,
  defaultVariables,
  parseGranarySettings,
  readGranarySettings,
  settingsFile,
} from "./granary-settings.ts";

const usual = {
  project: undefined,
  targets: [],
  tools: defaultTools,
  variables: defaultVariables,
  files: [],
};

/** Each line contains the line before nine times: nine to the eighth in all. */
const bomb = Array.from(
  { length: 8 },
  (_, at) =>
    `n${at}: &n${at} [${Array(9)
      .fill(at === 0 ? "1" : `*n${at - 1}`)
      .join(",")}]`,
).join("\n");

test("a workspace without settings, or with an empty file, has the defaults", async () => {
  const root = mkdtempSync(join(tmpdir(), "grange-settings-"));
  onTestFinished(() => rmSync(root, { recursive: true }));
  expect(await readGranarySettings(root)).toEqual(usual);

  mkdirSync(dirname(join(root, settingsFile)), { recursive: true });
  writeFileSync(join(root, settingsFile), "# nothing yet\n");
  expect(await readGranarySettings(root)).toEqual(usual);
});

test("a list of the environment replaces the default list", () => {
  const text = `
project: team/web
targets: [//app/...]
environment:
  tools: [zig]
  files: [toolchain.lock]
`;

  expect(parseGranarySettings(text)).toEqual({
    ...usual,
    project: "team/web",
    targets: ["//app/..."],
    tools: ["zig"],
    files: ["toolchain.lock"],
  });
});

test.each([
  ["enviroment: {}", 'no "enviroment"; the file may have project, targets and environment'],
  ["environment: {tolls: [cc]}", 'no "environment.tolls"; environment may have tools'],
  ["environment: cc", "environment must be a map with tools"],
  ["project: ../x y", "project: a name"],
  ["environment: {tools: [/usr/bin/cc]}", "environment.tools.0: a program's name"],
  ["environment: {files: [../secret]}", "environment.files.0: a path within"],
  ["environment: {files: [a/../../b]}", "environment.files.0: a path within"],
  ["environment: {files: [/etc/passwd]}", "environment.files.0: a path within"],
  ["environment: {variables: ['A B']}", "environment.variables.0: a variable's name"],
  ["targets: all", "targets"],
  ["a: [", "line 1"],
  ["- list", "the whole"],
  [`x: ${"y".repeat(70_000)}`, "larger than"],
  [bomb, "alias"],
])("%.40s is refused, and told where", (text, what) => {
  const parse = () => parseGranarySettings(text);

  expect(parse).toThrow(what);
  expect(parse).toThrow(expect.objectContaining({ code: "invalid_argument" }));
  expect(parse).toThrow(settingsFile);
});
