import fc from "fast-check";
import { expect, test } from "vitest";
import { placesOfJobs } from "./job-places.ts";
import { readTemplates } from "./read-templates.ts";
import { readSourceFile } from "./source-file.ts";

const name = fc.stringMatching(/^[a-z][a-z0-9/-]{0,8}$/);
const written = fc.constantFrom(
  (key: string) => `  ${key}: {commands: x}\n`,
  (key: string) => `  '${key}':\n    commands: x\n`,
  (key: string) => `\n  # jobs:\n  "${key}":\n    script: |\n      jobs:\n        a: b\n\n`,
  // A text that only the full YAML parser reads.
  (key: string) => `  ${key}: &${key.replaceAll(/\W/g, "")}\n    commands:\n    - >\n      x\n`,
);

test("a job has the line of its key, whichever parser reads the file", () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(name, { minLength: 1, maxLength: 8 }),
      fc.infiniteStream(written),
      fc.boolean(),
      (names, ways, isAfter) => {
        const jobs = names.map((each) => ways.next().value(each)).join("");
        const parameters = "parameters:\n  a: {default: 1}\n";
        const text = `version: 1\n${isAfter ? "" : parameters}jobs:\n${jobs}${isAfter ? parameters : ""}`;
        const source = readSourceFile("f.yml", text);
        if (Array.isArray(source)) throw new Error(JSON.stringify(source));

        for (const each of names) {
          expect(source.lineOfJob(each)).toBe(source.place(["jobs", each], "key").line);
        }
      },
    ),
  );
});

test("jobs in one line, or from an expression, have the line of all of them", async () => {
  const templates = await readTemplates(
    new Map([
      ["a.yml", "version: 1\njobs: {a: {commands: x}, b: {commands: y}}\n"],
      ["b.yml", "version: 1\n\njobs:\n  $map: [1]\n  each(i): {'c${i}': {commands: z}}\n"],
      ["c.yml", "version: 1\njobs: &x {d: {commands: z}}\n"],
    ]),
  );

  expect(placesOfJobs(templates)).toEqual({
    jobs: { a: ["a.yml", 2], b: ["a.yml", 2], d: ["c.yml", 2] },
    expressions: [["b.yml", 3]],
  });
});
