import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { z } from "zod";
import { smallDefinition } from "./suite.fixture.ts";
import { suiteSchema } from "./suite-schema.ts";

const root = join(import.meta.dirname, "../..");

function accepts(definition: unknown): boolean {
  const { $id: _, ...schema } = suiteSchema();
  return z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0]).safeParse(definition)
    .success;
}

test("the published schema equals that of the code; `vitest -u` updates it", async () => {
  const text = `${JSON.stringify(suiteSchema(), null, 2)}\n`;

  await expect(text).toMatchFileSnapshot(join(root, "docs/schema/benchmark-suite.schema.json"));
});

test.each(["typescript", "grange"])("it takes the suite %s", async (name) => {
  expect(accepts(parse(await readFile(join(root, `.grange/bench/${name}.yml`), "utf8")))).toBe(
    true,
  );
});

test.each([
  { what: "an unknown key", change: { benchmarks: {} } },
  { what: "a number out of range", change: { requestsAtOnce: 99 } },
  { what: "no name", change: { suite: undefined } },
])("it does not take $what", ({ change }) => {
  expect(accepts({ ...smallDefinition(), ...change })).toBe(false);
});
