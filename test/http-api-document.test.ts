import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { allEndpoints, endpointGroups } from "../src/api/endpoints/all-endpoints.ts";
import { endpointTables } from "../src/api/endpoints/endpoint-tables.ts";
import { signInEndpoints } from "../src/api/endpoints/sign-in-endpoints.ts";
import { limitsTable } from "../src/server/request-limits/limits-table.ts";

test("docs/http-api.md lists the endpoints of the table", async () => {
  const document = await readFile("docs/http-api.md", "utf8");
  const written = /<!-- endpoints: begin -->\n([^]*)\n<!-- endpoints: end -->/.exec(document)?.[1];

  expect(written, "run `npm run docs`").toBe(endpointTables(endpointGroups));
});

test("docs/http-api.md lists the limits of the table", async () => {
  const document = await readFile("docs/http-api.md", "utf8");
  const written = /<!-- limits: begin -->\n([^]*)\n<!-- limits: end -->/.exec(document)?.[1];

  expect(written, "run `npm run docs`").toBe(limitsTable());
});

test("each endpoint is in one part of the document", () => {
  const listed = endpointGroups.flatMap(({ endpoints }) => Object.values(endpoints));

  expect(new Set(listed).size).toBe(listed.length);
  expect(new Set(listed)).toEqual(
    new Set([...Object.values(signInEndpoints), ...Object.values(allEndpoints)]),
  );
});
