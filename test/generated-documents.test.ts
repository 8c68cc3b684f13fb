import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { generatedParts, withPart } from "../scripts/generated-parts.ts";
import { alertsYaml } from "../scripts/monitoring/alerts.ts";
import { dashboardJson } from "../scripts/monitoring/dashboard.ts";
import { allEndpoints, endpointGroups } from "../src/api/endpoints/all-endpoints.ts";
import { signInEndpoints } from "../src/api/endpoints/sign-in-endpoints.ts";
import { allCommands } from "../src/cli/command-facts.ts";
import { commandReference } from "../src/cli/command-reference.ts";

test.each(generatedParts())("docs/$file has the current $name", async (part) => {
  const document = await readFile(`docs/${part.file}`, "utf8");

  expect(document, "run `npm run docs`").toBe(withPart(document, part));
});

test("docs/command-reference.md has the current commands", async () => {
  const commands = await allCommands({ entry: "", version: "" });

  const document = await readFile("docs/command-reference.md", "utf8");

  expect(document, "run `npm run docs`").toBe(commandReference(commands));
});

test.each([
  { file: "deploy/grafana/grange.json", text: dashboardJson() },
  { file: "deploy/prometheus/alerts.yaml", text: alertsYaml() },
])("$file is what the script writes", async ({ file, text }) => {
  expect(await readFile(file, "utf8"), "run `npm run docs`").toBe(text);
});

test("each endpoint is in one part of the document", () => {
  const listed = endpointGroups.flatMap(({ endpoints }) => Object.values(endpoints));

  expect(new Set(listed).size).toBe(listed.length);
  expect(new Set(listed)).toEqual(
    new Set([...Object.values(signInEndpoints), ...Object.values(allEndpoints)]),
  );
});
