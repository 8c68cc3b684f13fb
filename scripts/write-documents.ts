import { readFile, writeFile } from "node:fs/promises";
import { endpointGroups } from "../src/api/endpoints/all-endpoints.ts";
import { endpointTables } from "../src/api/endpoints/endpoint-tables.ts";

// Writes the generated parts of docs/http-api.md.
const file = new URL("../docs/http-api.md", import.meta.url);
const [before, rest] = (await readFile(file, "utf8")).split("<!-- endpoints: begin -->\n");
const after = rest?.split("<!-- endpoints: end -->")[1];
if (before === undefined || after === undefined) throw new Error("docs/http-api.md has no markers");
const tables = endpointTables(endpointGroups);
await writeFile(
  file,
  `${before}<!-- endpoints: begin -->\n${tables}\n<!-- endpoints: end -->${after}`,
);
