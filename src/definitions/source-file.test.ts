import { expect, test } from "vitest";
import { definitionLimits } from "./definition-limits.ts";
import { readSourceFile } from "./source-file.ts";

const anchored = "version: 1\nx: &a 1\n";

test("files that need the full parser share a budget; plain files do not use it", () => {
  const budget = { bytes: anchored.length };

  expect(readSourceFile("plain.yml", "version: 1\n", budget)).toMatchObject({ value: {} });
  expect(readSourceFile("a.yml", anchored, budget)).toMatchObject({ value: { x: 1 } });
  expect(readSourceFile("b.yml", anchored, budget)).toMatchObject([
    { file: "b.yml", line: 2, message: expect.stringContaining("more than 2 MiB together") },
  ]);
});

test("a large file that is not plain is rejected with the first line that is not plain", () => {
  const lines = Array.from({ length: 20_000 }, (_, i) => `k${i}: b\n`).join("");
  const read = (text: string) => readSourceFile("f.yml", text);

  expect(read(`version: 1\n${lines}x: &a 1\n`)).toMatchObject([{ line: 20_002 }]);
  expect(read(`version: 1\nx: "tab\t"\n${lines}`)).toMatchObject([{ line: 2 }]);
});

test("in a large plain file, a problem has the line of its job", () => {
  const comment = `# ${"x".repeat(definitionLimits.wholeYamlFileBytes)}\n`;
  const source = readSourceFile(
    "f.yml",
    `${comment}version: 1\njobs:\n  a:\n    commands: x\n  b:\n    wrong: y\n`,
  );
  if (Array.isArray(source)) throw new Error("it is not read");

  expect(source.place(["jobs", "b", "wrong"], "key")).toEqual({ line: 6, column: 1 });
  expect(source.place(["switches", "c"])).toEqual({ line: 1, column: 1 });
});
