import { apiClient } from "../api/api-client.ts";
import { databaseChecks } from "./database.ts";
import { doctorGroups } from "./examine.ts";
import type { Group } from "./run-checks.ts";

/** Returns the tables of docs/doctor.md, in Markdown: all checks, none of which runs. */
export function doctorTable(): string {
  const groups = doctorGroups({
    directory: "/",
    dataDir: "/",
    databaseUrl: undefined,
    databaseReadUrl: undefined,
    bucket: { url: "s3://farm" },
    api: apiClient("http://127.0.0.1:8980", {}),
    version: "",
  });
  return groups.map(tableOf).join("\n");
}

function tableOf({ name, checks }: Group): string {
  const all =
    name === "Database"
      ? [...checks, ...databaseChecks("postgres://farm", "postgres://replica")]
      : checks;
  return [
    `### ${name}`,
    "",
    "| check | what it needs | fix |",
    "|---|---|---|",
    ...all.map((check) => `| ${check.name} | ${check.needs} | ${check.fix} |`),
    "",
  ].join("\n");
}
