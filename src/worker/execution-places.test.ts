import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { type Need, skipWithout } from "../../test/support/needs/needs.ts";
import { readWorkerConfig } from "./config.ts";
import { ExecutionPlaces } from "./execution-places.ts";
import { sweepLeftovers } from "./leftovers.ts";
import { FifoPool } from "./logs/fifo-pool.ts";
import { openMachine } from "./machine.ts";
import { starterName } from "./program-starter.ts";
import { quoteForShell } from "./quote-for-shell.ts";
import { fixedPlaces } from "./sandbox/sandbox.ts";
import type { WaitingCommand } from "./sandbox/waiting-command.ts";
import { ProcessSpawner } from "./spawned-process.ts";
import { toolPath } from "./tool-path.ts";

async function openPlaces(slots: number) {
  const dataDir = mkdtempSync(join(tmpdir(), "grange-places-"));
  const config = readWorkerConfig({ server: "http://127.0.0.1:1", name: "w", dataDir });
  const machine = await openMachine(config);
  const pipes = new FifoPool(machine.shell, machine.runDir);
  const places = new ExecutionPlaces(
    machine,
    new ProcessSpawner(machine, pipes, toolPath(config.path)),
    slots,
  );
  onTestFinished(async () => {
    await places.stop();
    await pipes.close();
    await machine.close();
    rmSync(dataDir, { recursive: true, force: true });
  });
  return { machine, places, canWait: await places.opened };
}

/** Only bubblewrap can start a sandbox that waits for its job. */
const waitingSandboxes = (canWait: boolean): Need => ({
  name: "sandboxes that wait",
  missing: canWait ? undefined : "no sandbox waits here",
  remedy: { kind: "debian", packages: ["bubblewrap"] },
});

const run = (script: string): WaitingCommand => ({
  arguments: ["/bin/sh", "-c", script],
  environment: new Map(),
  directory: fixedPlaces.root,
});

test("a waiting sandbox sees later mounts in its tree", async (context) => {
  const { machine, places, canWait } = await openPlaces(2);
  skipWithout(context, waitingSandboxes(canWait));
  const place = await places.take(true);
  const root = quoteForShell(join(place.scratch, "root"));

  if (machine.shell.kind !== "plain") await machine.shell.run(`mount -t tmpfs tmpfs ${root}`);
  await machine.shell.run(`echo late >${root}/file`);
  place.waiting?.go(run('test "$(cat file)" = late && exit 42'));

  expect(await place.waiting?.process.exited).toBe(42);
  await place.dispose();
});

test("a waiting sandbox of a killed shell is not used", async (context) => {
  const { machine, places, canWait } = await openPlaces(1);
  skipWithout(context, waitingSandboxes(canWait));
  const before = await places.take(true);
  process.kill(machine.shell.generation, "SIGKILL");
  // The sandbox itself continues to run if it had entered the shell's namespace by then.
  await expect.poll(() => machine.shell.generation).toBe(0);

  expect(() => before.waiting?.assertReady()).toThrow("no longer exists");
  await machine.shell.run("true");
  const next = await places.take(true);
  expect(() => next.waiting?.assertReady()).not.toThrow();
  await Promise.all([before.dispose(), next.dispose()]);
});

test("each returned place is replaced by another waiting one", async (context) => {
  const { places, canWait } = await openPlaces(2);
  skipWithout(context, waitingSandboxes(canWait));
  const used = [await places.take(true), await places.take(true)];
  for (const place of used) await place.dispose();

  const next = [await places.take(true), await places.take(true)];

  expect(next.map(({ waiting }) => waiting === undefined)).toEqual([false, false]);
  for (const place of next) await place.dispose();
});

test("unused places leave nothing behind", async () => {
  const { machine, places } = await openPlaces(3);
  const taken = await places.take(true);
  await taken.dispose();

  await places.stop();

  expect(readdirSync(machine.runDir).filter((name) => /^\d+$/.test(name))).toEqual([]);
  const waiting = readdirSync("/proc").filter((pid) => {
    try {
      const line = readFileSync(`/proc/${pid}/cmdline`, "utf8");
      // The process that starts sandboxes ends with the machine.
      return line.includes(`${machine.runDir}/`) && !line.endsWith(`/${starterName}\0`);
    } catch {
      return false;
    }
  });
  expect(waiting).toEqual([]);
});

test("after kill -9 no waiting process continues, and the next worker removes the rest", async (context) => {
  const dataDir = mkdtempSync(join(tmpdir(), "grange-places-"));
  onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }));
  const file = (name: string) => JSON.stringify(new URL(name, import.meta.url).href);
  const program = `
    import { readWorkerConfig } from ${file("./config.ts")};
    import { ExecutionPlaces } from ${file("./execution-places.ts")};
    import { FifoPool } from ${file("./logs/fifo-pool.ts")};
    import { openMachine } from ${file("./machine.ts")};
    import { ProcessSpawner } from ${file("./spawned-process.ts")};
    import { toolPath } from ${file("./tool-path.ts")};
    const config = readWorkerConfig({ server: "http://127.0.0.1:1", name: "w", dataDir: ${JSON.stringify(dataDir)} });
    const machine = await openMachine(config);
    const pipes = new FifoPool(machine.shell, machine.runDir);
    const places = new ExecutionPlaces(machine, new ProcessSpawner(machine, pipes, toolPath(config.path)), 2);
    const canWait = await places.opened;
    const taken = await places.take(true);
    process.stdout.write(canWait && taken.waiting ? "waiting\\n" : "cannot\\n");
    setInterval(() => {}, 1000);
  `;
  const child = spawn(
    process.execPath,
    ["--import", "tsx", "--input-type=module", "--eval", program],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  const exited = once(child, "exit");
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await exited;
  });
  const ended = exited.then(() => [Buffer.from("it ended before it was ready")]);
  const [said] = (await Promise.race([once(child.stdout, "data"), ended])) as [Buffer];
  expect(said.toString()).toMatch(/waiting|cannot/);
  skipWithout(context, waitingSandboxes(said.toString().includes("waiting")));
  // Their groups contain the name of the process that made them, and so can be found without it.
  const ours = `~${child.pid}-`;
  const left = () =>
    readdirSync("/proc").filter((pid) => {
      try {
        const text = readFileSync(`/proc/${pid}/cgroup`, "utf8");
        return /^\d+$/.test(pid) && (text.includes(ours) || commandLineOf(pid).includes(dataDir));
      } catch {
        return false;
      }
    });
  expect(left().length).toBeGreaterThan(1);

  child.kill("SIGKILL");
  await exited;

  await expect.poll(left).toEqual([]);
  await sweepLeftovers(dataDir);
  expect(readdirSync(join(dataDir, "run"))).toEqual([]);
});

function commandLineOf(pid: string): string {
  return readFileSync(`/proc/${pid}/cmdline`, "utf8");
}
