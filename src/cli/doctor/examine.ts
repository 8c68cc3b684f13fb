import type { ExitCode } from "../exit-code.ts";
import type { CommonOptions, Session } from "../session.ts";
import { dataDirectoryFor } from "../up/where-to-run.ts";
import { browserChecks } from "./browser.ts";
import { dataDirectoryChecks } from "./data-directory.ts";
import { databaseChecks } from "./database.ts";
import { farmChecks } from "./farm.ts";
import { machineChecks } from "./machine.ts";
import { measuringChecks } from "./measuring.ts";
import { printChecks } from "./print-checks.ts";
import { repositoryChecks } from "./repository.ts";
import { sandboxChecks } from "./sandbox.ts";
import { toolChecks } from "./tools.ts";
import { workerFacilityChecks } from "./worker-facilities.ts";

/** Runs all checks; fails when one of them fails, but not on a warning. */
export async function examine(
  { config, terminal, api }: Session,
  options: CommonOptions,
  version: string,
): Promise<ExitCode> {
  const here = process.cwd();
  const groups = [
    { name: "Tools", checks: toolChecks() },
    { name: "Machine", checks: machineChecks() },
    {
      name: "Data directory",
      checks: dataDirectoryChecks(await dataDirectoryFor(config.dataDir, here)),
    },
    { name: "Database", checks: databaseChecks(config.databaseUrl) },
    { name: "Sandbox of jobs", checks: [...sandboxChecks(), ...workerFacilityChecks()] },
    { name: "Repository", checks: repositoryChecks(here) },
    { name: "Farm", checks: farmChecks(api, version) },
    { name: "Measuring", checks: measuringChecks() },
    { name: "Development", checks: browserChecks() },
  ];
  return printChecks(groups, terminal, options);
}
