import { z } from "zod";
import type { RequestedResult } from "#api/granary.ts";
import { GrpcChannel } from "#grpc/channel.ts";
import { Granaries } from "#proto/grange/granary/v1/granary_pb.ts";
import { atMost, exactly, type Row } from "../row.ts";
import type { Granary, GranaryLab, GranaryOptions } from "./granary-lab.ts";
import type { SmallProject } from "./small-project.ts";

export const rounds = 20;

export interface Fault {
  readonly name: string;
  /** Whether the farm has results to fetch (the fault hits the prefetch) or not (it hits the upload). */
  readonly farm: "full" | "empty";
  /** How the daemon is started. */
  readonly env?: Readonly<Record<string, string>>;
  /** Called before the build, which then is a second one. */
  before?(granary: Granary, round: number): Promise<void>;
  /** Called while it prefetches or uploads: in each round at another share of the bytes. */
  during?(lab: GranaryLab, granary: Granary, round: number): Promise<void>;
  /** Called after the build, so that uploads can continue. */
  after?(lab: GranaryLab): Promise<void>;
  /** Whether the daemon is then killed, if it was not, and restarted on its data. */
  readonly restart?: true;
  /** The maximum total time that a build may wait for a silent farm. */
  readonly mostWaitMs?: number;
}

type Key = Pick<RequestedResult, "namespace" | "key">;

/** What was built without faults. */
export interface Faultless {
  readonly product: string;
  /** The bytes that a build with an empty farm sends, and a build with a full farm fetches. */
  readonly bytes: Readonly<Record<Fault["farm"], number>>;
  /** A project whose results are all on the farm. */
  readonly full: string;
  /** The keys of all its results: equal in every project. */
  readonly keys: readonly Key[];
}

/** How long after the build's end a fault waits for its share of the bytes: then it happens in any case. */
const graceMs = 1_000;

export async function buildFaultless(lab: GranaryLab, project: SmallProject): Promise<Faultless> {
  const { carried } = lab.line;
  const full = "full";
  const sentBefore = carried.toServer;
  await onFreshMachine(lab, (granary) => build(granary, project, full));
  const gotBefore = carried.toClient;
  const product = project.product();
  const sent = carried.toServer - sentBefore;
  const [made] = await lab.reports(full);
  if (made === undefined) throw new Error("no report of a build without faults");
  const keys = made.asked.map(({ namespace, key }) => ({ namespace, key }));
  await onFreshMachine(lab, (granary) => build(granary, project, full));
  return { product, full, keys, bytes: { empty: sent, full: carried.toClient - gotBefore } };
}

async function onFreshMachine<T>(
  lab: GranaryLab,
  use: (granary: Granary) => Promise<T>,
): Promise<T> {
  const granary = await lab.startGranary();
  const result = await use(granary);
  await granary.drained();
  await granary.stop();
  return result;
}

/** Causes a fault at twenty times: the build continues and succeeds with the correct bytes; uploads complete later. */
export async function inflict(
  lab: GranaryLab,
  project: SmallProject,
  fault: Fault,
  faultless: Faultless,
): Promise<Row[]> {
  const counts = { green: 0, right: 0, atFarm: 0 };
  let longest = 0;
  let longestWait = 0;
  const why: string[] = [];
  for (let round = 0; round < rounds; round++) {
    const name =
      fault.farm === "full" ? faultless.full : `${fault.name.replaceAll(" ", "-")}-${round}`;
    const options = {
      ...(fault.env === undefined ? {} : { env: fault.env }),
      // So that a fault can hit an upload while the build runs.
      ...(fault.farm === "empty" ? { more: ["--upload", "during"] } : {}),
    };
    const first = await lab.startGranary(options);
    if (fault.before !== undefined) {
      await build(first, project, name);
      await fault.before(first, round);
    }
    const share = (round + 0.5) / rounds;
    const way = fault.farm === "full" ? "toClient" : "toServer";
    const target = lab.line.carried[way] + faultless.bytes[fault.farm] * share;
    const running = build(first, project, name);
    if (fault.during !== undefined) {
      await reached(() => lab.line.carried[way] >= target, running);
      await fault.during(lab, first, round);
    }
    const run = await running;
    longest = Math.max(longest, run.wallMs);
    let isGreen = run.code === 0;
    let isRight = project.product() === faultless.product;
    await fault.after?.(lab);
    const granary = fault.restart === true ? await killedAndStarted(lab, first, options) : first;
    if (fault.farm === "empty") {
      const all = await kept(granary);
      await granary.drained();
      longestWait = Math.max(longestWait, await waited(lab, name));
      const found = await foundAtFarm(lab, name, faultless.keys);
      if (found >= all) counts.atFarm++;
      else why.push(`round ${round}: the farm has ${found} of ${all} results`);
    } else if (fault.restart === true) {
      const again = await build(granary, project, name);
      isGreen &&= again.code === 0;
      isRight &&= project.product() === faultless.product;
    } else {
      await granary.drained();
      longestWait = Math.max(longestWait, await waited(lab, name));
    }
    await granary.stop();
    if (isGreen) counts.green++;
    else why.push(`round ${round}: ${run.text.slice(-500)}`);
    if (isRight) counts.right++;
    else why.push(`round ${round}: other bytes`);
  }
  const said = why.length > 0 ? `; ${why[0]}` : "";
  const how = `at ${rounds} moments; the longest build ${(longest / 1_000).toFixed(1)} s${said}`;
  const all = (what: string, count: number, told: string) =>
    exactly(`${fault.name}: ${what}`, count, rounds, `of ${rounds}`, told);
  const rows = [
    all("builds green", counts.green, how),
    all("right bytes", counts.right, "SHA-256 of all outputs"),
  ];
  if (fault.farm === "empty") {
    const told = `the farm is asked for the keys of all ${faultless.keys.length} results, and tells those whose blobs it has`;
    rows.push(all("all is at the farm later", counts.atFarm, told));
  }
  if (fault.mostWaitMs !== undefined) {
    const told = "all waits of one build for the farm, those at the same time as well";
    const waits = `${fault.name}: a build waited at most`;
    rows.push(atMost(waits, longestWait, fault.mostWaitMs, "ms", told));
  }
  return rows;
}

/** As after a crash, with its remaining data. */
async function killedAndStarted(
  lab: GranaryLab,
  granary: Granary,
  options: Pick<GranaryOptions, "env">,
): Promise<Granary> {
  granary.program.signal("SIGKILL");
  await granary.program.finished;
  return lab.startGranary({ data: granary.data, ...options });
}

/** Returns the waiting time of the last reported build. */
async function waited(lab: GranaryLab, name: string): Promise<number> {
  const [last] = await lab.builds(name);
  return last?.waitedMs ?? 0;
}

export async function build(granary: Granary, project: SmallProject, name: string) {
  await project.clean();
  const { command, env, path: cwd } = project;
  return granary.exec(command, { cwd, env, more: ["--project", name] });
}

async function reached(isSo: () => boolean, running: Promise<unknown>): Promise<void> {
  let until = Number.POSITIVE_INFINITY;
  const ended = () => {
    until = performance.now() + graceMs;
  };
  void running.then(ended, ended);
  while (!isSo() && performance.now() < until)
    await new Promise((resolve) => setTimeout(resolve, 1));
}

/** Returns the number of results of a daemon; 0 for a stopped one. */
export async function kept(granary: Granary): Promise<number> {
  const status = await granary.status().catch(() => ({}));
  return Kept.safeParse(status).data?.store.results ?? 0;
}

const Kept = z.object({ store: z.object({ results: z.number() }) });

/** Queried without a machine: a busy one sometimes gives up, and makes results that the farm has. */
async function foundAtFarm(lab: GranaryLab, name: string, keys: readonly Key[]): Promise<number> {
  const channel = new GrpcChannel({ url: lab.farm.url });
  try {
    const asked = { instanceName: name, results: [...keys] };
    return (await channel.unary(Granaries.method.lookUp, asked)).results.length;
  } finally {
    await channel.stop();
  }
}
