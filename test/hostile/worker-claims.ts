import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { durationFromMs, durationMs } from "@bufbuild/protobuf/wkt";
import { type RegisterRequestSchema, Workers } from "#proto/grange/worker/v1/worker_pb.ts";
import { codeOf } from "../build-tools/hostile-target.ts";
import type { HostileCase } from "./case.ts";
import type { HostileFarm } from "./hostile-farm.ts";
import { isOneOf } from "./known-attacks.ts";
import { finishAs, honest, wellDone, withLease } from "./rogue-worker.ts";

const { register, claim, started, lookAhead } = Workers.method;
type Case = HostileCase<HostileFarm>;

/** An invalid description: it does not register a worker. */
function noWorker(name: string, lie: MessageInitShape<typeof RegisterRequestSchema>): Case {
  return {
    name: `a worker that says it has ${name}`,
    async run({ channel }) {
      const code = await codeOf(() => channel.unary(register, { ...honest(), ...lie }));
      isOneOf(code, "invalid_argument");
    },
  };
}

export const workerClaims: readonly Case[] = [
  noWorker("size class 0", { sizeClass: 0 }),
  noWorker("size class -5", { sizeClass: -5 }),
  noWorker("size class 2^31 - 1", { sizeClass: 2 ** 31 - 1 }),
  noWorker("a million slots", { slots: 1_000_000 }),
  noWorker("NaN CPUs", { cpus: Number.NaN }),
  noWorker("endless CPUs", { cpus: Number.POSITIVE_INFINITY }),
  noWorker("less memory than none", { memoryBytes: -1n }),
  noWorker("a lease that ended before", { lease: durationFromMs(-5_000) }),
  noWorker("a name that is a path", { name: "../../etc" }),
  noWorker("a name that paints", { name: "a\u001b[2J" }),
  noWorker("a NUL in its host", { host: "a\u0000b" }),
  noWorker("no id of its own", { instanceId: "" }),
  noWorker("a transport of its own making", { transport: "carrier pigeon" }),
  {
    name: "a worker with 20,000 properties",
    async run({ channel }) {
      const platform = Object.fromEntries(Array.from({ length: 20_000 }, (_, n) => [`p${n}`, "v"]));
      const code = await codeOf(() => channel.unary(register, { ...honest(), platform }));
      isOneOf(code, "invalid_argument", "resource_exhausted");
    },
  },
  {
    name: "a worker with 20,000 facilities",
    async run({ channel }) {
      const facilities = Object.fromEntries(
        Array.from({ length: 20_000 }, (_, n) => [`f${n}`, "v".repeat(100)]),
      );
      const code = await codeOf(() => channel.unary(register, { ...honest(), facilities }));
      isOneOf(code, "invalid_argument", "resource_exhausted");
    },
  },
  {
    name: "a lease of a thousand years is granted for less than a day",
    async run({ channel }) {
      const lease = durationFromMs(1_000 * 366 * 86_400_000);
      const granted = await channel.unary(register, { ...honest(), lease });
      assert(granted.leaseDuration !== undefined);
      assert(durationMs(granted.leaseDuration) < 86_400_000);
    },
  },
  {
    name: "claims of 2^31 - 1 executions, of -1, and of 0",
    run: (farm) =>
      withLease(farm, async ({ me }) => {
        for (const most of [2 ** 31 - 1, -1, 0]) {
          const code = await codeOf(() => farm.channel.unary(claim, { ...me, most }));
          isOneOf(code, "ok", "invalid_argument");
        }
        const nobody = { workerName: "nobody", instanceId: randomUUID(), most: 1 };
        const code = await codeOf(async () => {
          const { leases: given } = await farm.channel.unary(claim, nobody);
          assert.equal(given.length, 0);
        });
        isOneOf(code, "ok", "failed_precondition", "not_found", "permission_denied");
      }),
  },
  {
    name: "a look ahead of -1 and of 2^31 - 1",
    run: (farm) =>
      withLease(farm, async ({ me }) => {
        for (const most of [-1, 2 ** 31 - 1]) {
          const { ahead } = await farm.channel.unary(lookAhead, { ...me, most });
          assert(ahead.length <= 16);
        }
      }),
  },
  {
    name: "a process that started in the year 9999, or before Christ",
    run: (farm) =>
      withLease(farm, async ({ me, lease }) => {
        for (const seconds of [253_402_300_799n, -99_999_999_999n, 2n ** 62n]) {
          const code = await codeOf(() =>
            farm.channel.unary(started, { lease, at: { seconds, nanos: 0 } }),
          );
          isOneOf(code, "ok", "invalid_argument");
        }
        isOneOf(await finishAs(farm, me, { ...wellDone, lease }), "published");
        const { text } = await farm.ask(`/executions/${lease.executionId}`);
        assert.equal(/"(?:\+|-)?\d{5,6}-|"9999-/.test(text), false, text);
      }),
  },
];
