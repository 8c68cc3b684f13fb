import { readFile, writeFile } from "node:fs/promises";
import { allCommands } from "../src/cli/command-facts.ts";
import { commandReference } from "../src/cli/command-reference.ts";
import { generatedParts, withPart } from "./generated-parts.ts";
import { licencesDocument } from "./licences-document.ts";
import { alertsYaml } from "./monitoring/alerts.ts";
import { dashboardJson } from "./monitoring/dashboard.ts";

// Writes the generated parts of documents, docs/command-reference.md, docs/licences.md, and the files of deploy/ for
// monitoring.
for (const part of generatedParts()) {
  const file = new URL(`../docs/${part.file}`, import.meta.url);
  await writeFile(file, withPart(await readFile(file, "utf8"), part));
}

const lock = await readFile(new URL("../package-lock.json", import.meta.url), "utf8");
await writeFile(new URL("../docs/licences.md", import.meta.url), licencesDocument(lock));

const commands = await allCommands({ entry: "", version: "" });
await writeFile(
  new URL("../docs/command-reference.md", import.meta.url),
  commandReference(commands),
);

const deploy = new URL("../deploy/", import.meta.url);
await writeFile(new URL("grafana/grange.json", deploy), dashboardJson());
await writeFile(new URL("prometheus/alerts.yaml", deploy), alertsYaml());
