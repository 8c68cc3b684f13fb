import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { type Need, skipWithout } from "../../test/support/needs/needs.ts";
import { readWorkerConfig } from "./config.ts";
import { type ExecutionPlace, ExecutionPlaces } from "./execution-places.ts";
import { sweepLeftovers } from "./leftovers.ts";
import { FifoPool } from "./logs/fifo-pool.ts";
import { openMachine } from "./machine.ts";
import { starterName } from "./program-starter.ts";
import { quoteForShell } from "./quote-for-shell.ts";
import { fixedPlaces } from "./sandbox/sandbox.ts";
import type { WaitingCommand } from "./sandbox/waiting-command.ts";
import { ProcessSpawner } from "./spawned-process.ts";
import { toolPath } from "./tool-path.ts";

async function openPlaces(slots: number, settings: { shown?: string; hidden?: string } = {}) {
  const dataDir = mkdtempSync(join(tmpdir(), "grange-places-"));
  const { shown, hidden } = settings;
  const config = {
    ...readWorkerConfig({ server: "http://127.0.0.1:1", name: "w", dataDir }),
    ...(shown === undefined ? {} : { shownPaths: [shown] }),
    ...(hidden === undefined ? {} : { hiddenPaths: [hidden] }),
  };
  const machine = await openMachine(config);
  const pipes = new FifoPool(machine.shell, machine.runDir);
  const spawner = new ProcessSpawner(machine, pipes, toolPath(config.path));
  const places = new ExecutionPlaces(machine, spawner, slots);
  onTestFinished(async () => {
    await places.stop();
    await pipes.close();
    await machine.close();
    rmSync(dataDir, { recursive: true, force: true });
  });
  // By then nothing uses the helper shell.
  await places.copied;
  return { machine, spawner, places, canWait: await places.opened };
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

test("a sandbox sees a mount that is made as soon as its place is there", async (context) => {
  const { machine, places, canWait } = await openPlaces(1);
  skipWithout(context, waitingSandboxes(canWait));
  const isCopied = await places.copied;
  const isMounted = machine.shell.kind !== "plain";
  const exitCodes: (number | undefined)[] = [];
  const inodes: (number | undefined)[][] = [];

  // bubblewrap may have made the first one.
  await (await places.take(true)).dispose();
  // Each of these is taken while its sandbox is still being made.
  for (let n = 0; n < 20; n++) {
    const place = await places.take(true);
    const root = join(place.scratch, "root");
    // A copy sees no mount that is made between the start of its process and its own mounts.
    if (isCopied) inodes.push([inodeOf(inCopy(place, fixedPlaces.root)), inodeOf(root)]);
    const quoted = quoteForShell(root);
    const mount = isMounted ? `mount -t tmpfs tmpfs ${quoted} && ` : "";
    await machine.shell.run(`${mount}: >${quoted}/there`);
    place.waiting?.go(run("test -e there && exit 42"));
    exitCodes.push(await place.waiting?.process.exited);
    await place.dispose();
  }

  expect(inodes).toEqual(inodes.map(([, outside]) => [outside, outside]));
  expect(exitCodes).toEqual(exitCodes.map(() => 42));
});

const inodeOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.ino;
const inCopy = ({ waiting }: ExecutionPlace, path: string) =>
  `/proc/${waiting?.process.pid}/root${path}`;

/** Returns a place whose sandbox was prepared after everything before this call. */
async function takeFresh(places: ExecutionPlaces, slots = 1): Promise<ExecutionPlace> {
  for (let older = slots; older > 0; older--) await (await places.take(true)).dispose();
  return places.take(true);
}

async function outcomeOf(place: ExecutionPlace, script: string) {
  place.waiting?.go(run(script));
  const exitCode = await place.waiting?.process.exited;
  // The first process of bubblewrap ends a little later, and has the pipe open.
  await place.group.kill();
  const printed = readFileSync(place.waiting?.process.stdout ?? -1, "utf8");
  return { exitCode, printed };
}

test("root's waiting sandboxes are copies of one, and share nothing that a job can change", async (context) => {
  const { machine, places, canWait } = await openPlaces(2);
  skipWithout(context, waitingSandboxes(canWait));
  const isCopied = await places.copied;
  expect(isCopied).toBe(machine.sandbox.copies !== undefined && machine.limiter.kind !== "proc");
  const writer = await takeFresh(places, 2);
  const reader = await places.take(true);
  const everywhere = [
    "/",
    "/dev",
    "/dev/shm",
    "/dev/pts",
    "/grange",
    "/grange/home",
    "/home",
    "/run",
    "/sys",
    "/tmp",
    "/var/tmp",
  ];

  const written = await outcomeOf(
    writer,
    `for at in ${everywhere.join(" ")}; do ( : >"$at/by-another" ) 2>/dev/null && echo $at; done; exit 0`,
  );
  const seen = await outcomeOf(
    reader,
    `for at in ${everywhere.join(" ")}; do [ ! -e "$at/by-another" ] || echo $at; done
     ( : >/proc/sys/kernel/hostname ) 2>/dev/null && echo writable; cat /proc/sys/kernel/hostname
     ls -d /proc/[0-9]* | grep -c -v -x /proc/$$; ls /dev/pts; cut -d: -f1 /proc/net/dev | tail -n +3
     grep -h -E '^(NoNewPrivs|CapEff|CapPrm)' /proc/self/status; exit 0`,
  );

  const writable = written.printed.trim().split("\n");
  const own = ["/dev/shm", "/grange/home", "/tmp"];
  expect(writable).toEqual(expect.arrayContaining(own));
  // What bubblewrap makes for an ordinary user belongs to this user.
  expect(isCopied ? writable : own).toEqual(own);
  expect(seen.printed.trim().split(/\s+/)).toEqual(
    // Besides the shell: the first process, `ls`, and what is between the two pipes.
    [
      "grange",
      expect.stringMatching(/^[1-3]$/),
      "ptmx",
      "lo",
      "CapPrm:",
      "0000000000000000",
      "CapEff:",
      "0000000000000000",
      "NoNewPrivs:",
      "1",
    ],
  );
  for (const place of [writer, reader]) await place.dispose();
});

test("a waiting sandbox has the mounts of one that bubblewrap makes for a command", async (context) => {
  const { machine, spawner, places, canWait } = await openPlaces(1);
  skipWithout(context, waitingSandboxes(canWait));
  const { sandbox } = machine;
  // Without the numbers of mounts, devices and peers, and the places of the job on the machine.
  const script =
    "sed -E 's/^[0-9]+ [0-9]+ [0-9:]+ [^ ]+ //; s/ (master|shared):[0-9]+//g' /proc/self/mountinfo";
  const copied = await takeFresh(places);
  const made = await places.take(false);

  const inCopy = await outcomeOf(copied, script);
  const process = await spawner.spawn(
    sandbox.commandLine({
      arguments: ["/bin/sh", "-c", script],
      environment: new Map(),
      root: join(made.scratch, "root"),
      temp: made.temp,
      home: made.home,
      workingDirectory: "",
      network: false,
    }),
    made.group,
  );
  expect(await process.exited).toBe(0);
  await made.group.kill();

  // bubblewrap mounts some settings of the kernel twice, the second time without `noexec`.
  const lines = (text: string) => {
    const all = text.trim().split("\n");
    return [...new Set(all.map((line) => line.replace(",noexec", "")))].toSorted();
  };
  expect(lines(inCopy.printed)).toEqual(lines(readFileSync(process.stdout, "utf8")));
  expect(lines(inCopy.printed).length).toBeGreaterThan(10);
  for (const place of [copied, made]) await place.dispose();
});

test("a hidden file stays hidden in later waiting sandboxes when it was replaced", async (context) => {
  const shown = mkdtempSync("/var/tmp/grange-shown-");
  onTestFinished(() => rmSync(shown, { recursive: true, force: true }));
  chmodSync(shown, 0o755);
  const hidden = join(shown, "token");
  writeFileSync(hidden, "first");
  writeFileSync(join(shown, "other"), "shown");
  const { places, canWait } = await openPlaces(1, { shown, hidden });
  skipWithout(context, waitingSandboxes(canWait));
  const script = `cat ${shown}/other ${shown}/token`;
  const before = await outcomeOf(await takeFresh(places), script);
  writeFileSync(`${hidden}.new`, "second");
  renameSync(`${hidden}.new`, hidden);

  const after = await takeFresh(places);
  const seen = await outcomeOf(after, script);

  expect([before.printed, seen.printed]).toEqual(["shown", "shown"]);
  await after.dispose();
});

test("a signal that ends the command of a waiting sandbox is its exit code", async (context) => {
  const { places, canWait } = await openPlaces(1);
  skipWithout(context, waitingSandboxes(canWait));
  const place = await takeFresh(places);

  expect((await outcomeOf(place, "sleep 60 & kill -9 $$")).exitCode).toBe(137);
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
