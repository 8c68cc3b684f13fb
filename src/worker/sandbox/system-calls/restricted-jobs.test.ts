import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Service } from "#core/service.ts";
import { needs } from "../../../../test/support/needs/needs.ts";
import { readWorkerConfig, type WorkerConfig } from "../../config.ts";
import { FakeFarm } from "../../fake-farm.fixture.ts";
import { restrictionNeeds, sandboxNeeds } from "../../sandbox-needs.fixture.ts";
import { startWorkerOn } from "../../start-worker.ts";
import { type Call, callScript } from "./call-program.fixture.ts";
import { inspectedCalls, refusedCalls } from "./refused-calls.ts";

const { filter, scope } = await restrictionNeeds();

/** The table of this process's architecture; the needs of the tests state when there is none. */
const table = process.arch === "arm64" ? "arm64" : "x64";

const EPERM = -1;
const EAFNOSUPPORT = -97;

/**
 * Without a filter each call fails with another error, because its arguments are wrong, or it succeeds for everybody.
 */
const refused: readonly { readonly call: Call; readonly expected: number }[] = [
  { call: { number: refusedCalls.add_key[table] }, expected: EPERM },
  { call: { number: refusedCalls.request_key[table] }, expected: EPERM },
  // KEYCTL_GET_KEYRING_ID of the user's own keyring.
  { call: { number: refusedCalls.keyctl[table], arguments: [0, -4, 1] }, expected: EPERM },
  { call: { number: refusedCalls.io_uring_setup[table] }, expected: EPERM },
  { call: { number: refusedCalls.perf_event_open[table] }, expected: EPERM },
  { call: { number: refusedCalls.userfaultfd[table], arguments: [3] }, expected: EPERM },
  { call: { number: refusedCalls.open_by_handle_at[table], arguments: [-1] }, expected: EPERM },
  // AF_VSOCK and AF_ALG.
  { call: { number: inspectedCalls.socket[table], arguments: [40, 1] }, expected: EAFNOSUPPORT },
  { call: { number: inspectedCalls.socket[table], arguments: [38, 5] }, expected: EAFNOSUPPORT },
];
const calls = callScript(refused.map(({ call }) => call)) ?? "";
const expected = refused.map((each) => `${each.expected}\n`).join("");

for (const { sandbox, need } of await sandboxNeeds(["bubblewrap", "namespaces"])) {
  const workers: { worker: Service; dataDir: string }[] = [];
  const farmOf = async (settings: Partial<WorkerConfig> = {}) => {
    const farm = new FakeFarm();
    const dataDir = mkdtempSync(join(tmpdir(), "grange-restricted-"));
    const config = readWorkerConfig({
      server: "http://127.0.0.1:1",
      name: "w1",
      slots: 1,
      dataDir,
      sandbox,
      ...settings,
    });
    const worker = await startWorkerOn(farm, config, pino({ level: "silent" }));
    workers.push({ worker, dataDir });
    return farm;
  };
  const printed = async (farm: FakeFarm, script: string, network = "off") => {
    const { result } = await farm.run({ script, platform: { network } });
    return Buffer.from(result?.stdoutRaw ?? []).toString();
  };

  describe(`jobs in sandbox ${sandbox}`, needs(need, filter), () => {
    let farm: FakeFarm;
    beforeAll(async () => {
      farm = await farmOf();
    });
    afterAll(async () => {
      for (const { worker, dataDir } of workers) {
        await worker.stop();
        rmSync(dataDir, { recursive: true, force: true });
      }
    });

    test.each(["off", "on"])(
      "may not make calls that builds do without (network %s)",
      async (network) => {
        expect(await printed(farm, calls, network)).toBe(expected);
        expect(
          await printed(farm, "grep -E '^(Seccomp|NoNewPrivs):' /proc/self/status", network),
        ).toBe("NoNewPrivs:\t1\nSeccomp:\t2\n");
      },
    );

    test("may create sockets, threads and pipes, and trace their own processes", async () => {
      const script = `node -e '
        const net = require("net");
        const server = net.createServer((socket) => socket.end("by TCP\\n")).listen(0, "::1", () =>
          net.connect(server.address().port, "::1").on("data", (data) => {
            process.stdout.write(data); server.close(); }));
        new (require("worker_threads").Worker)("console.log(1)", { eval: true });
      ' | sort`;

      expect(await printed(farm, script)).toBe("1\nby TCP\n");
    });

    test("may create user namespaces, unless their worker forbids it", async () => {
      const script = "unshare -Ur true 2>/dev/null && echo yes || echo no";
      const strict = await farmOf({ allowsNamespaces: false });

      expect(await printed(farm, script)).toBe("yes\n");
      expect(await printed(strict, script)).toBe("no\n");
      expect(strict.registered?.facilities["system calls"]).toBe("filtered; no user namespaces");
      // `clone3` passes flags in memory, which a filter cannot read; C libraries have another method.
      expect(
        await printed(
          strict,
          'node -e \'new (require("worker_threads").Worker)("console.log(1)", { eval: true })\'',
        ),
      ).toBe("1\n");
    });

    test("may make the calls that their worker allows", async () => {
      const lax = await farmOf({ allowedCalls: ["keyctl"] });
      const script = callScript([
        { number: refusedCalls.keyctl[table], arguments: [0, -4, 1] },
        { number: refusedCalls.add_key[table] },
      ]);

      expect(await printed(lax, script ?? "")).not.toBe("-1\n-1\n");
      expect(lax.registered?.facilities["system calls"]).toContain("allowed: keyctl");
    });

    test("reach no abstract socket of the machine, even with network", needs(scope), async () => {
      const name = `grange-${randomUUID()}`;
      const listener = createServer((socket) => socket.end("hello"));
      await new Promise<void>((resolve) => listener.listen(`\0${name}`, resolve));
      const connect = (to: string) =>
        `const socket = require("net").connect("\\0${to}"); socket.on("error", (e) => console.log(e.code)); socket.on("data", (d) => console.log(String(d)))`;
      const own = `const server = require("net").createServer((s) => { s.end("own"); server.close(); }).listen("\\0own", () => { ${connect("own")} })`;
      try {
        expect(await printed(farm, `node -e '${connect(name)}'`, "on")).toBe("EPERM\n");
        expect(await printed(farm, `node -e '${connect(name)}'`)).toBe("ECONNREFUSED\n");
        expect(await printed(farm, `node -e '${own}'`, "on")).toBe("own\n");
      } finally {
        await new Promise((resolve) => listener.close(resolve));
      }
    });
  });
}
