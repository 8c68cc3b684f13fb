import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { endpointGroups } from "../src/api/endpoints/all-endpoints.ts";
import { endpointTables } from "../src/api/endpoints/endpoint-tables.ts";

test("docs/http-api.md has the endpoints as the table has them", async () => {
  const document = await readFile("docs/http-api.md", "utf8");
  const written = /<!-- endpoints: begin -->\n([^]*)\n<!-- endpoints: end -->/.exec(document)?.[1];

  expect(written, "run `npm run docs`").toBe(endpointTables(endpointGroups));
});
