import { expect, test } from "vitest";
import { readShowOptions, showUsage } from "../../bench/show/show-options.ts";
import { startProgram } from "../support/process.ts";

const names = ["farm", "pages"];
const nothing = { json: false, long: false, only: undefined, minutes: undefined, help: false };

test("a name and its options are read", () => {
  expect(readShowOptions(["pages", "--json", "--only=hostile", "--minutes", "3"], names)).toEqual({
    ...nothing,
    name: "pages",
    json: true,
    only: "hostile",
    minutes: 3,
  });
  expect(readShowOptions(["--help"], names)).toEqual({ ...nothing, name: undefined, help: true });
});

test.each([
  { words: [], problem: "the name of a show is missing" },
  { words: ["page"], problem: 'there is no show "page"' },
  { words: ["pages", "farm"], problem: 'one show at a time: "farm" is too much' },
  { words: ["pages", "--minutes=0"], problem: "--minutes=0: must be a number above 0" },
  { words: ["pages", "--olny=x"], problem: "Unknown option '--olny'" },
  { words: ["pages", "--only"], problem: "argument missing" },
])("$words is refused: $problem", ({ words, problem }) => {
  expect(readShowOptions(words, names)).toEqual({ problem: expect.stringContaining(problem) });
});

test("the help of a show prints the usage and its measurements, and measures nothing", async () => {
  const program = startProgram(process.execPath, ["scripts/show.mjs", "pages", "--help"]);

  const { code, stdout, stderr } = await program.finished;

  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toContain(showUsage(["start"]).split("\n")[0]);
});
