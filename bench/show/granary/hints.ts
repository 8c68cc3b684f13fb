import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { atMost, type Measurement, type Row } from "../row.ts";
import { rowsOfReport } from "./distances.ts";
import { type GranaryLab, startGranaryLab } from "./granary-lab.ts";
import { sh } from "./project.ts";
import {
  rulesInLines,
  runScripted,
  type ScriptedOptions,
  type ScriptedRule,
  type ScriptedRules,
  writeScripted,
} from "./scripted-build.ts";

/** 200 results each, of 20 ms of work: a second in total with four workers, if nothing has to wait. */
const graphs: Readonly<Record<string, ScriptedRules>> = {
  wide: rulesInLines(200, 1, 20),
  narrow: rulesInLines(2, 100, 20),
};

const ways: Readonly<Record<string, Omit<ScriptedOptions, "project">>> = {
  "nothing told, no index": { hints: false, prefetch: false },
  "hints only": { prefetch: false },
  "index only": { hints: false },
  "both hints and index": {},
  "approximations only": { hints: false, prefetch: false, approximations: true },
};

/** The gain of a build system that announces its next requests, without an index and with one; at 20 ms. */
export const hintsMeasurement: Measurement = {
  title: "granary: hints of a build system, beside the commit's index",
  long: false,
  async measure() {
    const lab = await startGranaryLab({ roundTripMs: 20, bytesPerSecond: 100e6 / 8 });
    try {
      const rows: Row[] = [];
      for (const [graph, rules] of Object.entries(graphs)) {
        rows.push(...(await measureGraph(lab, graph, rules)));
      }
      return [...rows, await weakHash(lab)];
    } finally {
      await lab.stop();
    }
  },
};

async function measureGraph(lab: GranaryLab, graph: string, rules: ScriptedRules): Promise<Row[]> {
  const project = `hints-${graph}`;
  const path = await checkout(lab, project, rules);
  await build(lab, path, { project, approximations: true });
  const rows: Row[] = [];
  for (const [way, options] of Object.entries(ways)) {
    const { wallMs } = await build(lab, path, { project, ...options });
    const [report] = await lab.reports(project);
    if (report === undefined) throw new Error(`${graph}, ${way}: no report`);
    rows.push(...rowsOfReport(`200 results, ${graph}, ${way}`, wallMs, report));
  }
  return rows;
}

const sameHash = 40;

/**
 * A hash with little information: many results have one approximation. Of the possible ones only the newest are
 * fetched.
 */
async function weakHash(lab: GranaryLab): Promise<Row> {
  const project = "weak-hash";
  const rules: Record<string, ScriptedRule> = {};
  for (const [name, rule] of Object.entries(rulesInLines(sameHash, 1, 1))) {
    rules[name] = { ...rule, weak: "weak" };
  }
  const path = await checkout(lab, project, rules);
  await build(lab, path, { project, approximations: true });
  const one = `l${sameHash - 1}-0`;
  await writeScripted(path, { [one]: { inputs: [`src/${one}`], deps: [], ms: 1, weak: "weak" } });
  await build(lab, path, { project, prefetch: false, hints: false, approximations: true });
  const [report] = await lab.reports(project);
  if (report === undefined) throw new Error("no report of a weak hash");
  const { transferred, wasted } = report.bytes;
  const size = Math.max(1, report.asked[0]?.bytes ?? 0);
  const how = `${sameHash} results under one approximation that is not exact, and a build that asks for one of them: ${transferred} bytes came ahead, ${wasted} of them for nothing; 8 keys are remembered of each approximation`;
  return atMost("weak hash: results fetched for one", transferred / size, 8, "", how);
}

async function checkout(lab: GranaryLab, name: string, rules: ScriptedRules): Promise<string> {
  const path = join(lab.work, name);
  await mkdir(path, { recursive: true });
  await writeScripted(path, rules);
  const as = "-c user.name=show -c user.email=show@example.org";
  sh(path, `git init -q -b main && git add -A && git ${as} commit -q -m 'commit 0'`);
  return path;
}

async function build(lab: GranaryLab, path: string, options: ScriptedOptions) {
  const granary = await lab.startGranary();
  const run = await runScripted(path, granary.data, options);
  await granary.drained();
  await granary.stop();
  return run;
}
