import { expect, test } from "vitest";
import { schedulerConfig, storageConfig } from "../../bench/show/field/buildbarn-config.ts";
import { quantitiesOf, turnsOf } from "../../bench/show/field/by-turns.ts";
import { absentRow, comparisonRows } from "../../bench/show/field/comparison-rows.ts";
import { FieldResult, fieldTable } from "../../bench/show/field/field-table.ts";
import { nativeLinkConfig } from "../../bench/show/field/nativelink-config.ts";
import { fileOf } from "../../bench/show/field/peers.ts";

const speed = (value: number) =>
  ({ what: "1 GB in", unit: "MB/s", better: "higher", value }) as const;
const measured = [
  { server: "Grange", figures: [speed(90)] },
  { server: "other 2.0", figures: [speed(100)] },
  { server: "other 2.0", figures: [speed(100)] },
  { server: "Grange", figures: [speed(120)] },
  { server: "Grange", figures: [speed(110)] },
  { server: "other 2.0", figures: [speed(100)] },
];

test("each server is the first of a round in turn", () => {
  const rounds = [0, 1, 2, 3].map((round) => turnsOf(["a", "b", "c"], round).join(""));

  expect(rounds).toEqual(["abc", "bca", "cab", "abc"]);
});

test("figures of a server are one quantity, in the order of the rounds", () => {
  expect(quantitiesOf(measured)).toEqual([
    {
      what: "1 GB in",
      unit: "MB/s",
      better: "higher",
      sides: [
        { name: "Grange", samples: [90, 120, 110] },
        { name: "other 2.0", samples: [100, 100, 100] },
      ],
    },
  ]);
});

test("a row has the median of the ratios, their range, and both programs' values", () => {
  const rows = quantitiesOf(measured).flatMap((quantity) =>
    comparisonRows(quantity, "Grange", { kind: "ratio", limit: 1.2 }, "one client"),
  );

  expect(rows).toMatchObject([
    {
      name: "1 GB in: Grange beside other 2.0",
      figure: 1.1,
      goal: "≥ 1.2 ×",
      holds: false,
      how: "median of 3 rounds by turns, ratios 0.9 to 1.2; Grange 110 (90 to 120), other 2.0 100 (100 to 100) MB/s; one client",
    },
  ]);
});

test("where less is better, the ratio must not exceed its limit", () => {
  const sides = [
    { name: "Grange", samples: [8] },
    { name: "other", samples: [10] },
  ];
  const quantity = { what: "a build", unit: "s", better: "lower", sides } as const;

  const [row] = comparisonRows(quantity, "Grange", { kind: "ratio", limit: 0.9 }, "");

  expect(row).toMatchObject({ figure: 0.8, goal: "≤ 0.9 ×", holds: true });
});

test("an absent peer has a row that does not hold and says what is missing", () => {
  expect(absentRow("blobs", { absent: "other is absent: put it on the PATH" })).toMatchObject({
    figure: null,
    holds: false,
    how: "other is absent: put it on the PATH",
  });
});

test("the table of the documents has a line for each comparison and each absent peer", () => {
  const rows = [
    ...quantitiesOf(measured).flatMap((quantity) =>
      comparisonRows(quantity, "Grange", { kind: "ratio", limit: 1.2 }, ""),
    ),
    absentRow("blobs beside a|b", { absent: "a|b is absent" }),
  ];
  const result = FieldResult.parse({ commit: "c", machine: "m", rows });

  expect(fieldTable(result).split("\n")).toEqual([
    "| what | Grange | peer | ratio | goal |",
    "| --- | --- | --- | --- | --- |",
    "| 1 GB in, MB/s | 110 (90 to 120) | other 2.0: 100 (100 to 100) | 1.1 × | ≥ 1.2 ×: not reached |",
    "| blobs beside a\\|b |  |  | not measured | measured |",
  ]);
});

test("a peer's file may name its version, and is not mistaken for that of another program", () => {
  const files = ["bb_worker@1", "bb_worker@2", "bb_worker_tool@3"];

  expect(fileOf("bb_worker", files)).toBe("bb_worker@2");
  expect(fileOf("bb_storage", files)).toBeUndefined();
});

test("Buildbarn listens on the given addresses only, and each blob of 1 GiB fits into a block", () => {
  const places = {
    directory: "/data",
    storage: "127.0.0.1:1",
    schedulerForClients: "127.0.0.1:2",
    schedulerForWorkers: "127.0.0.1:3",
  };

  const storage = storageConfig(places, true);

  expect(storage).toMatchObject({
    grpcServers: [{ listenAddresses: ["127.0.0.1:1"] }],
    schedulers: { "": { endpoint: { address: "127.0.0.1:2" } } },
    contentAddressableStorage: {
      backend: {
        local: {
          oldBlocks: 2,
          currentBlocks: 4,
          newBlocks: 1,
          blocksOnBlockDevice: { source: { file: { sizeBytes: 8 * 2 * 2 ** 30 } }, spareBlocks: 1 },
        },
      },
    },
  });
  expect(schedulerConfig(places)).toMatchObject({
    clientGrpcServers: [{ listenAddresses: ["127.0.0.1:2"] }],
    workerGrpcServers: [{ listenAddresses: ["127.0.0.1:3"] }],
  });
});

test("NativeLink listens on the given addresses only, and runs so many actions at once", () => {
  const places = { directory: "/data", clients: "127.0.0.1:1", workers: "127.0.0.1:2" };

  const config = nativeLinkConfig(places, 2);

  expect(config).toMatchObject({
    workers: [{ local: { max_inflight_tasks: 2, work_directory: "/data/work" } }],
    servers: [
      { listener: { http: { socket_address: "127.0.0.1:1" } } },
      { listener: { http: { socket_address: "127.0.0.1:2" } } },
    ],
  });
});
