import { messageOf } from "#core/fault.ts";
import type { Outlet } from "../terminal/terminal.ts";
import { buildRemotely } from "./build-remotely.ts";
import { buildWithCcache } from "./build-with-ccache.ts";
import type { DemoFarm } from "./demo-farm.ts";
import { ccacheLine, graphLine, measuredLine, releaseLine, remoteBuildLine } from "./demo-lines.ts";
import { readDemoRecord, writeDemoRecord } from "./demo-record.ts";
import { type DemoStep, stepName, stepsToDo } from "./demo-steps.ts";
import { measureCommits } from "./measure-commits.ts";
import { runGraphOf, runToBreakpoint } from "./run-graphs.ts";

/**
 * Runs the remaining steps of the demo on this farm, with a line for each. Resolves with whether the demo is complete.
 *
 * A failed step is reported and does not prevent the others; the next start of the demo retries it. The same applies to
 * an interrupted step.
 */
export async function fillDemo(
  farm: DemoFarm,
  recordFile: string,
  notes: Pick<Outlet, "line">,
): Promise<boolean> {
  const done = new Set(await readDemoRecord(recordFile));
  const steps = stepsToDo(farm.repository.commits, done, farm.tools);
  let failed = 0;
  for (const step of steps) {
    if (farm.stopping.aborted) return false;
    try {
      notes.line(await carryOut(step, farm));
      done.add(stepName(step));
      await writeDemoRecord(recordFile, done);
    } catch (reason) {
      if (farm.stopping.aborted) return false;
      failed += 1;
      notes.line(`  ${step.kind} failed: ${messageOf(reason)}. The next start tries again.`);
    }
  }
  return failed === 0;
}

async function carryOut(step: DemoStep, farm: DemoFarm): Promise<string> {
  switch (step.kind) {
    case "graph":
      return graphLine(farm.url, step.number, await runGraphOf(farm, step.commit));
    case "release":
      return releaseLine(farm.url, await runToBreakpoint(farm, step.commit));
    case "remote-build": {
      const first = await buildRemotely(farm);
      const second = await buildRemotely(farm);
      return remoteBuildLine(farm.url, first, second);
    }
    case "ccache":
      return ccacheLine(await buildWithCcache(farm));
    case "benchmarks":
      return measuredLine(await measureCommits(farm));
  }
}
