import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Measurement, Row } from "../row.ts";
import { type Figure, printTurn, quantitiesOf, turnsOf } from "./by-turns.ts";
import { ours } from "./cas-contenders.ts";
import { absentRow, comparisonRows } from "./comparison-rows.ts";
import {
  buildbarnExecution,
  buildboxCasd,
  grangeExecution,
  nativeLink,
} from "./execution-contenders.ts";
import { type ExecutionLoad, measureExecution } from "./execution-load.ts";
import type { Contender, FieldServer } from "./field-server.ts";
import { type Absent, findPeer } from "./peers.ts";

const rounds = 5;
const load: ExecutionLoad = { oneByOne: 50, eightAtOnce: 100, small: 500 };
const warmUp: ExecutionLoad = { oneByOne: 10, eightAtOnce: 20, small: 20 };

/** Actions that take no time, beside other servers that execute. */
export const executionSpeed: Measurement = {
  title: "small actions, beside Buildbarn, NativeLink and buildbox-casd",
  long: false,
  async measure() {
    const found = [foundBuildbarn(), foundNativeLink(), foundCasd()];
    const peers = found.flatMap((each) => ("absent" in each ? [] : [each]));
    const absent = found.flatMap((each) =>
      "absent" in each ? [absentRow("small actions", each)] : [],
    );
    if (peers.length === 0) return absent;
    return [...(await measure([grangeExecution, ...peers])), ...absent];
  },
};

function foundCasd(): Contender | Absent {
  const casd = findPeer("buildbox-casd");
  const run = findPeer("buildbox-run");
  if ("absent" in casd) return casd;
  if ("absent" in run) return run;
  return buildboxCasd(casd, run);
}

function foundNativeLink(): Contender | Absent {
  const peer = findPeer("nativelink");
  return "absent" in peer ? peer : nativeLink(peer);
}

function foundBuildbarn(): Contender | Absent {
  const bb_storage = findPeer("bb_storage");
  const bb_scheduler = findPeer("bb_scheduler");
  const bb_worker = findPeer("bb_worker");
  const bb_runner = findPeer("bb_runner");
  if ("absent" in bb_storage) return bb_storage;
  if ("absent" in bb_scheduler) return bb_scheduler;
  if ("absent" in bb_worker) return bb_worker;
  if ("absent" in bb_runner) return bb_runner;
  return buildbarnExecution({ bb_storage, bb_scheduler, bb_worker, bb_runner });
}

async function measure(contenders: readonly Contender[]): Promise<Row[]> {
  const directory = await mkdtemp(join(tmpdir(), "grange-field-"));
  const running: { name: string; server: FieldServer }[] = [];
  const measured: { server: string; figures: readonly Figure[] }[] = [];
  try {
    for (const [n, contender] of contenders.entries())
      running.push({
        name: contender.name,
        server: await contender.start(await mkdtemp(join(directory, `${n}-`))),
      });
    for (const { server } of running) await measureExecution(server.url, warmUp);
    for (let round = 0; round < rounds; round++)
      for (const { name, server } of turnsOf(running, round)) {
        printTurn(round, rounds, name);
        measured.push({ server: name, figures: await measureExecution(server.url, load) });
      }
  } finally {
    for (const { server } of running) await server.stop();
    await rm(directory, { recursive: true, force: true });
  }
  const how =
    "two actions at once on each server, everything on this machine; Grange and buildbox-casd run each in a sandbox, Buildbarn and NativeLink in none";
  return quantitiesOf(measured).flatMap((quantity) =>
    comparisonRows(quantity, ours, { kind: "ratio", limit: limitOf(quantity.what) }, how),
  );
}

/** One at a time: not slower; many at once: faster. */
function limitOf(what: string): number {
  return what.includes("one at a time") ? 1 : 0.9;
}
