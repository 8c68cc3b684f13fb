import { type ExitCode, exitCodes } from "../exit-code.ts";
import type { CommonOptions, Session } from "../session.ts";
import { dataDirectoryFor } from "../up/where-to-run.ts";
import { browserChecks } from "./browser.ts";
import type { CheckResult } from "./check.ts";
import { dataDirectoryChecks } from "./data-directory.ts";
import { databaseChecks } from "./database.ts";
import { farmChecks } from "./farm.ts";
import { machineChecks } from "./machine.ts";
import { measuringChecks } from "./measuring.ts";
import { repositoryChecks } from "./repository.ts";
import { runChecks } from "./run-checks.ts";
import { sandboxChecks } from "./sandbox.ts";
import { toolChecks } from "./tools.ts";
import { workerFacilityChecks } from "./worker-facilities.ts";

/** Asks everything; fails when a check does, not when one only warns. */
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
  const results: CheckResult[] = [];
  const { answer } = terminal;
  for await (const result of runChecks(groups)) {
    if (options.json !== true) {
      if (result.group !== results.at(-1)?.group) answer.line(answer.paint.bold(result.group));
      for (const line of resultLines(result, answer.paint)) answer.line(line);
    }
    results.push(result);
  }
  const count = (status: CheckResult["status"]) =>
    results.filter((result) => result.status === status).length;
  const summary = { ok: count("ok"), warn: count("warn"), fail: count("fail") };
  if (options.json === true)
    answer.line(JSON.stringify({ summary, checks: results }, undefined, 2));
  else answer.line(`${summary.ok} ok, ${summary.warn} to know, ${summary.fail} to put right`);
  return summary.fail === 0 ? exitCodes.ok : exitCodes.failed;
}

function resultLines(
  { status, name, detail, fix }: CheckResult,
  paint: Session["terminal"]["answer"]["paint"],
): string[] {
  const signs = { ok: paint.green("✓"), warn: paint.yellow("!"), fail: paint.red("✗") };
  return [
    `  ${signs[status]} ${name}: ${detail}`,
    ...(fix === null ? [] : [`      ${paint.dim("→")} ${fix}`]),
  ];
}
