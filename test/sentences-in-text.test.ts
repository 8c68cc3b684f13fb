import { expect, test } from "vitest";
import { sentencesInText } from "../scripts/sentences/sentences-in-text.ts";

test("finds what a person can read, with the elements inside a sentence, and no code", () => {
  const source = [
    'import { some } from "a module of the project.ts";',
    "export const rows = sql`select the names of all`;",
    "export function fail(name: string): never {",
    '  throw new Error(`there is no job ${name} in this graph; ` + "choose another one");',
    "}",
    'export const Part = () => <p className="a b c">No worker <b>is connected</b> to {some}.</p>;',
    'export const label = "Two words";',
  ].join("\n");

  expect(sentencesInText("part.tsx", source)).toEqual([
    { line: 4, text: "there is no job {…} in this graph; choose another one" },
    { line: 6, text: "No worker is connected to {…}." },
  ]);
});
