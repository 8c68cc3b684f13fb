import { execFile } from "node:child_process";
import { accessSync, constants, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer, type Server } from "node:net";
import { networkInterfaces, tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { Service } from "#core/service.ts";
import { Outcome } from "#proto/grange/worker/v1/worker_pb.ts";
import { type Need, needs } from "../../../test/support/needs/needs.ts";
import { findProgram, programs } from "../../../test/support/needs/program.ts";
import { readWorkerConfig, type WorkerConfig } from "../config.ts";
import { FakeFarm } from "../fake-farm.fixture.ts";
import { sandboxNeeds } from "../sandbox-needs.fixture.ts";
import { startWorkerOn } from "../start-worker.ts";

const slirp = programs("networks of jobs", {
  programs: ["slirp4netns"],
  packages: ["slirp4netns"],
});

/** Another address of this machine than those of loopback. */
const address = Object.values(networkInterfaces())
  .flatMap((addresses) => addresses ?? [])
  .find(({ family, internal }) => family === "IPv4" && !internal)?.address;

const tun: Need = {
  name: "/dev/net/tun and an address beside loopback",
  missing: mayOpen("/dev/net/tun") && address !== undefined ? undefined : "this machine lacks one",
  remedy: { kind: "machine" },
};

let workers: { readonly worker: Service; readonly dataDir: string }[] = [];
const servers: Server[] = [];
afterAll(async () => {
  for (const server of servers) await new Promise((resolve) => server.close(resolve));
});

for (const { sandbox, need } of await sandboxNeeds(["bubblewrap", "namespaces"])) {
  describe(`a job with its own network in sandbox ${sandbox}`, needs(need, slirp, tun), () => {
    let farm: FakeFarm;
    beforeAll(async () => {
      farm = await startOn({ sandbox, privateNetwork: true });
    });
    afterAll(async () => {
      for (const { worker, dataDir } of workers) {
        await worker.stop();
        rmSync(dataDir, { recursive: true, force: true });
      }
      workers = [];
    });

    test("reaches other machines, and neither loopback nor abstract sockets of its own", async () => {
      const loopback = await listen({ host: "127.0.0.1", port: 0 });
      const outside = await listen({ host: address, port: 0 });
      const abstract = `grange-private-${process.pid}-${sandbox}`;
      await listen({ path: `\0${abstract}` });
      const asked = [
        `{ host: "127.0.0.1", port: ${loopback} }`,
        `{ host: "10.0.2.2", port: ${loopback} }`,
        `"\\0${abstract}"`,
        `{ host: "${address}", port: ${outside} }`,
      ];
      const script = asked
        .map(
          (target) =>
            `node -e 'require("net").connect(${target}).on("data", (d) => { console.log(String(d)); process.exit(); }).on("error", () => { console.log("refused"); process.exit(); })'`,
        )
        .join("\n");

      expect(await printed(farm, script)).toBe("refused\nrefused\nrefused\nhello\n");
      expect(await printed(farm, "cat /etc/resolv.conf")).toBe("nameserver 10.0.2.3\n");
      expect(farm.registered?.facilities["network"]).toContain("its own, connected by slirp4netns");
      expect(farm.registered?.facilities["not stopped"]).not.toContain("loopback");
    });

    test("has its exit code, its outputs and its end by timeout, and leaves no slirp4netns", async () => {
      const before = await slirpProcesses();
      const platform = { network: "on" };
      const exits = await farm.run({ script: "echo out; echo err >&2; exit 3", platform });
      const signalled = await farm.run({ script: "kill -SEGV $$", platform });
      const late = await farm.run({ script: "exec sleep 1000", timeoutMs: 500, platform });

      expect(exits.result?.exitCode).toBe(3);
      expect(Buffer.from(exits.result?.stdoutRaw ?? []).toString()).toBe("out\n");
      expect(Buffer.from(exits.result?.stderrRaw ?? []).toString()).toBe("err\n");
      expect(signalled.result?.exitCode).toBe(139);
      expect(late.outcome).toBe(Outcome.TIMED_OUT);
      // A killed process may still exist for a moment; one of another program may end meanwhile.
      const own = async () => (await slirpProcesses()).filter((each) => !before.includes(each));
      await expect.poll(own).toEqual([]);
    });

    test("does not run without its network, and a worker without it does not start", async () => {
      const tools = mkdtempSync(join(tmpdir(), "grange-slirp-"));
      onTestFinished(() => rmSync(tools, { recursive: true, force: true }));
      const failing = join(tools, "fail");
      const program = `#!/bin/sh\n[ -e ${failing} ] && exit 1\nexec ${findProgram("slirp4netns")} "$@"\n`;
      writeFileSync(join(tools, "slirp4netns"), program, { mode: 0o755 });
      const settings = { sandbox, privateNetwork: true, path: `${tools}:/usr/bin:/bin` };
      const other = await startOn(settings);
      writeFileSync(failing, "");

      const { result } = await other.run({ script: "echo ran", platform: { network: "on" } });

      expect(Buffer.from(result?.stdoutRaw ?? []).toString()).toBe("");
      expect(result?.exitCode).toBe(125);
      expect(Buffer.from(result?.stderrRaw ?? []).toString()).toBe(
        "the network of this job could not be started: slirp4netns failed\n",
      );
      await expect(startOn(settings)).rejects.toThrow(
        /jobs cannot get a network of their own on this machine .*Install slirp4netns/,
      );
    });
  });
}

async function startOn(settings: Partial<WorkerConfig>): Promise<FakeFarm> {
  const farm = new FakeFarm();
  const dataDir = mkdtempSync(join(tmpdir(), "grange-private-network-"));
  const config = readWorkerConfig({
    server: "http://127.0.0.1:1",
    name: "w1",
    slots: 1,
    dataDir,
    ...settings,
  });
  try {
    workers.push({
      worker: await startWorkerOn(farm, config, pino({ level: "silent" })),
      dataDir,
    });
  } catch (reason) {
    rmSync(dataDir, { recursive: true, force: true });
    throw reason;
  }
  return farm;
}

async function printed(farm: FakeFarm, script: string): Promise<string> {
  const { result } = await farm.run({ script, platform: { network: "on" } });
  return Buffer.from(result?.stdoutRaw ?? []).toString();
}

/** Returns the port, when there is one. */
async function listen(at: { host?: string | undefined; port?: number; path?: string }) {
  const server = createServer((socket) => socket.end("hello"));
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(at, resolve));
  return (server.address() as AddressInfo).port;
}

async function slirpProcesses(): Promise<string[]> {
  const { stdout } = await promisify(execFile)("ps", ["-eo", "pid,comm"]);
  return stdout.split("\n").filter((line) => line.includes("slirp4netns"));
}

function mayOpen(path: string): boolean {
  try {
    accessSync(path, constants.R_OK | constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
