import { join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { z } from "zod";
import { definitionsSchema } from "./definitions-schema.ts";

const file = join(import.meta.dirname, "../../docs/schema/definitions.schema.json");

test("the published schema equals that of the code; `vitest -u` updates it", async () => {
  const text = `${JSON.stringify(definitionsSchema(), null, 2)}\n`;

  await expect(text).toMatchFileSnapshot(file);
});

test.each([
  { what: "a plain job", yaml: "{version: 1, jobs: {a: {commands: x, timeout: 10m}}}", fits: true },
  {
    what: "a hole where a number stands",
    yaml: "{version: 1, jobs: {a: {commands: x, retries: '${parameters.n}'}}}",
    fits: true,
  },
  {
    what: "a condition where a job stands",
    yaml: "{version: 1, jobs: {a: {$if: 'x', then: {commands: y}}}}",
    fits: true,
  },
  {
    what: "a construct where the jobs stand",
    yaml: "{version: 1, jobs: {$merge: [{a: {commands: x}}]}}",
    fits: true,
  },
  { what: "an unknown key", yaml: "{version: 1, jobs: {a: {comands: x}}}", fits: false },
  {
    what: "a number out of range",
    yaml: "{version: 1, jobs: {a: {commands: x, retries: 99}}}",
    fits: false,
  },
  { what: "no version", yaml: "{jobs: {a: {commands: x}}}", fits: false },
])("$what: the schema accepts it is $fits", ({ yaml, fits }) => {
  const { $id: _, ...schema } = definitionsSchema();
  const asZod = z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0]);

  expect(asZod.safeParse(parse(yaml)).success).toBe(fits);
});
