import { createRequire } from "node:module";
import fc from "fast-check";
import { expect, test } from "vitest";
import { catalogOf, nameOf } from "./catalog.ts";
import { originInCatalog } from "./definition-origin.ts";
import { fillJob } from "./fill-job.ts";
import { shapeOf, shareShape } from "./job-shape.ts";
import { parseJob } from "./parse-job.ts";

/** The original json-e, for comparison. */
const render = createRequire(import.meta.url)("json-e") as (
  template: unknown,
  context: object,
) => unknown;

const origin = originInCatalog("0".repeat(64));

function filled(job: object, context: Record<string, unknown>) {
  const shape = shapeOf({ name: "a", job, origin });
  if (shape.kind !== "texts") return undefined;
  const done = fillJob("a", job, shape, context, true);
  return done !== undefined && "definition" in done.parsed ? done.parsed.definition : undefined;
}

const piece = fc.constantFrom(
  "${branch}",
  "${ parameters.level }",
  "${parameters.on}",
  "${switches.pgo}",
  "make ",
  '"',
  "\\",
  "$HOME",
  "é\u0001",
  " ",
);
const text = fc.array(piece, { minLength: 1, maxLength: 5 }).map((pieces) => pieces.join(""));
const value = fc.oneof(fc.string(), fc.integer(), fc.boolean());

test("a job that is filled here equals the job of the template language, and has the same digest", () => {
  const job = fc.record(
    {
      commands: fc.oneof(text, fc.array(text, { minLength: 1, maxLength: 3 })),
      description: text,
      environment: fc.dictionary(fc.constantFrom("A", "B"), text, { noNullPrototype: true }),
      tags: fc.dictionary(fc.constantFrom("kind", "suite"), fc.oneof(text, fc.integer()), {
        noNullPrototype: true,
      }),
      timeout: fc.constant("5m"),
    },
    { requiredKeys: ["commands"], noNullPrototype: true },
  );
  const context = fc.record(
    {
      branch: fc.string(),
      parameters: fc.record({ level: value, on: value }, { noNullPrototype: true }),
      switches: fc.record({ pgo: fc.boolean() }, { noNullPrototype: true }),
    },
    { noNullPrototype: true },
  );
  fc.assert(
    fc.property(job, context, (written, seen) => {
      const here = filled(written, seen);
      fc.pre(here !== undefined);

      const there = parseJob("a", render(written, seen));
      expect({ definition: here, wanted: true }).toEqual(there);
      const [entry] = catalogOf(new Map([["a", here]])).entries;
      expect(entry?.digest).toBe(nameOf(structuredClone(here)));
    }),
    { numRuns: 500 },
  );
});

test.each([
  { what: "a calculation", command: "${parameters.level + 1}" },
  { what: "a name that is not there", command: "${parameters.nothing}" },
  { what: "a list", command: "${parameters.list}" },
  { what: "two dollar signs", command: "$${HOME} ${branch}" },
  { what: "a word of the language", command: "${true}" },
])("$what is left to the evaluator", ({ command }) => {
  const context = { branch: "main", parameters: { level: 1, list: ["a"] } };

  expect(filled({ commands: command }, context)).toBeUndefined();
});

test("an invalid text in a placeholder is reported", () => {
  const job = { commands: "x", timeout: "${parameters.limit}" };
  const shape = shapeOf({ name: "a", job, origin });
  if (shape.kind !== "texts") throw new Error("it has texts");

  const done = fillJob("a", job, shape, { parameters: { limit: "soon" } }, true);

  expect(done?.parsed).toMatchObject({ findings: [{ path: ["timeout"] }] });
});

test("jobs with equal content share one shape, and messages name the job itself", () => {
  const shape = (name: string, job: object) => shapeOf({ name, job, origin });
  const jobs = [0, 1, 2].map(() => ({ commands: ["make"], tags: { kind: "test" } }));
  const [first = {}, second = {}, third = {}] = jobs;
  shareShape(second, first);
  shareShape(third, second);

  expect(shape("b", second)).toBe(shape("a", first));
  expect(shape("c", third)).toBe(shape("a", first));
  expect(shape("not a name", second)).toMatchObject({
    parsed: { findings: [{ message: expect.stringContaining("not a name") }] },
  });
  expect(shape("${x}", second)).toEqual({ kind: "construct" });

  const wrong = [{ commands: 1 }, { commands: 1 }] as const;
  shareShape(wrong[1], wrong[0]);
  shape("d", wrong[0]);
  expect(shape("e", wrong[1])).toMatchObject({
    parsed: { findings: [{ message: expect.stringContaining('"e"') }] },
  });
});
