import { expect, test } from "vitest";
import { inputsKey, inputsLines } from "./inputs-lines.ts";

const end = { succeeded: true, exitCode: 0, message: "", result: undefined, durationMs: 1 };
const complete = {
  job: "unit",
  declaresInputs: true,
  missing: [],
  listed: [],
  requested: [],
  unused: [],
  unusedNeeds: [],
  proposal: ["src"],
  readFiles: 12,
  end,
  log: "",
  confirmation: { kind: "same" },
} as const;

test("says that nothing is missing", () => {
  expect(inputsLines(complete)).toEqual([
    'Job "unit" read 12 files of the checkout.',
    "All files that it reads are declared.",
    "Confirmed: with these inputs it ends in the same way as with the whole checkout (exit code 0).",
  ]);
});

test("proposes inputs for a job that declares none", () => {
  expect(inputsLines({ ...complete, declaresInputs: false }).slice(1)).toEqual([
    "It declares no inputs, so a change of any file runs it again. With the inputs below, only a change of these does.",
    "Confirmed: with these inputs it ends in the same way as with the whole checkout (exit code 0).",
    "",
    "inputs: [src]",
  ]);
});

test("says what is missing, what is in vain, and how the key should read", () => {
  const lines = inputsLines({
    ...complete,
    missing: ["bin/grange.mjs"],
    listed: ["docs", ""],
    requested: ["flags/on"],
    unused: ["buf.yaml"],
    unusedNeeds: ["build"],
    proposal: ["src", "bin", "docs/*", "*", "flags/on"],
  });

  expect(lines.slice(1)).toEqual([
    "Read, but not declared:",
    "  bin/grange.mjs",
    "Listed, but not declared (the job reads the names in a directory):",
    "  docs/*",
    "  *",
    "Not declared, and the job fails without it:",
    "  flags/on",
    "Declared, but not read:",
    "  buf.yaml",
    "Jobs in `needs` whose outputs are not read:",
    "  build",
    "Confirmed: with these inputs it ends in the same way as with the whole checkout (exit code 0).",
    "",
    'inputs: [src, bin, "docs/*", "*", flags/on]',
  ]);
});

test("shows the end of what a job printed whose inputs cannot be confirmed", () => {
  const failed = { ...end, succeeded: false, exitCode: 2, message: "exit code 2" };
  const lines = inputsLines({
    ...complete,
    confirmation: { kind: "different", end: failed, log: "one\nlast words\n" },
  });

  expect(lines.slice(2)).toEqual([
    "NOT confirmed: with these inputs it ends in another way (exit code 2):",
    "  | one",
    "  | last words",
  ]);
});

test("writes a long list of inputs one a line", () => {
  const patterns = Array.from({ length: 12 }, (_, at) => `directory-${at}/*.ts`);

  expect(inputsKey(patterns).slice(0, 2)).toEqual(["inputs:", '  - "directory-0/*.ts"']);
  expect(inputsKey([])).toEqual(["inputs: []"]);
});
