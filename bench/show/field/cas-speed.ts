import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Measurement, Row } from "../row.ts";
import { type Figure, printTurn, quantitiesOf, turnsOf } from "./by-turns.ts";
import { bazelRemote, buildbarnStorage, grangeStorage, ours } from "./cas-contenders.ts";
import { type CasLoad, type LargeBlobs, largeBlobs, measureCas } from "./cas-load.ts";
import { absentRow, comparisonRows } from "./comparison-rows.ts";
import { anonymousMiB, type Contender } from "./field-server.ts";
import { findPeer } from "./peers.ts";

const rounds = 5;
const clients = [1, 8, 64];
const usual: CasLoad = {
  clients,
  largeMiB: 256,
  smallInBatches: 10_000,
  smallByStream: 1_000,
  findMissingCalls: 8,
};
const full: CasLoad = {
  clients,
  largeMiB: 1_024,
  smallInBatches: 100_000,
  smallByStream: 10_000,
  findMissingCalls: 64,
};

/** Blobs in and out by gRPC, beside caches that do nothing else. */
export const casSpeed: Measurement = {
  title: "blobs in and out by gRPC, beside bazel-remote and Buildbarn's storage",
  long: false,
  measure: ({ long }) => measure(long ? full : usual),
};

async function measure(load: CasLoad): Promise<Row[]> {
  const peers = [
    { name: "bazel-remote", contender: bazelRemote },
    { name: "bb_storage", contender: buildbarnStorage },
  ] as const;
  const contenders: Contender[] = [grangeStorage];
  const absent: Row[] = [];
  for (const { name, contender } of peers) {
    const found = findPeer(name);
    if ("absent" in found) absent.push(absentRow("blobs by gRPC", found));
    else contenders.push(contender(found));
  }
  if (contenders.length === 1) return absent;
  const large = largeBlobs(load);
  const measured: { server: string; figures: readonly Figure[] }[] = [];
  for (let round = 0; round < rounds; round++) {
    for (const contender of turnsOf(contenders, round)) {
      printTurn(round, rounds, contender.name);
      const figures = await measureOne(contender, load, large);
      measured.push({ server: contender.name, figures });
    }
  }
  const how =
    "one client process of ours on the same machine, which hashes nothing; a new server with an empty directory in each round";
  return [
    ...quantitiesOf(measured).flatMap((quantity) =>
      comparisonRows(
        quantity,
        ours,
        quantity.better === "higher" ? { kind: "ratio", limit: 1 } : { kind: "information" },
        how,
      ),
    ),
    ...absent,
  ];
}

async function measureOne(
  contender: Contender,
  load: CasLoad,
  large: LargeBlobs,
): Promise<Figure[]> {
  const directory = await mkdtemp(join(tmpdir(), "grange-field-"));
  try {
    const server = await contender.start(directory);
    try {
      const before = anonymousMiB(server.pids);
      const figures = await measureCas(server.url, load, large);
      const after = anonymousMiB(server.pids);
      const memory = (what: string, value: number): Figure => ({
        what: `anonymous memory of the server ${what}`,
        unit: "MiB",
        better: "lower",
        value,
      });
      return [...figures, memory("before", before), memory("after all of it", after)];
    } finally {
      await server.stop();
    }
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
