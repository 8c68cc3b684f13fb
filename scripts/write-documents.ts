import { readFile, writeFile } from "node:fs/promises";
import { endpointGroups } from "../src/api/endpoints/all-endpoints.ts";
import { endpointTables } from "../src/api/endpoints/endpoint-tables.ts";
import { limitsTable } from "../src/server/request-limits/limits-table.ts";
import { licencesDocument } from "./licences-document.ts";

// Writes the generated parts of docs/http-api.md, and docs/licences.md.
const file = new URL("../docs/http-api.md", import.meta.url);
const parts = { endpoints: endpointTables(endpointGroups), limits: limitsTable() };
let text = await readFile(file, "utf8");
for (const [name, part] of Object.entries(parts)) {
  const [begin, end] = [`<!-- ${name}: begin -->\n`, `<!-- ${name}: end -->`];
  const [before, rest] = text.split(begin);
  const after = rest?.split(end)[1];
  if (before === undefined || after === undefined)
    throw new Error(`docs/http-api.md has no markers of ${name}`);
  text = `${before}${begin}${part}\n${end}${after}`;
}
await writeFile(file, text);

const lock = await readFile(new URL("../package-lock.json", import.meta.url), "utf8");
await writeFile(new URL("../docs/licences.md", import.meta.url), licencesDocument(lock));
