import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer, type Server } from "node:net";
import { join } from "node:path";
import { diskDirectory } from "../../support/disk-directory.ts";

const mebibyte = 1024 ** 2;

/** What a slot of the attacked worker gives. */
export const slot = {
  memoryBytes: 192 * mebibyte,
  diskBytes: 4 * mebibyte,
  logLimitBytes: mebibyte,
} as const;

/** The things on the machine that jobs attack. */
export interface Scene {
  /** In the names of files, and in the environment of processes; unique. */
  readonly mark: string;
  /** Of the worker. */
  readonly dataDir: string;
  readonly homeDir: string;
  readonly shownDir: string;
  /** The variables that tell jobs what to attack. */
  readonly environment: Readonly<Record<string, string>>;
  /** The port that the job beside the attackers opens. */
  readonly portOfJob: number;
  /** Throws unless the attacked process lives. */
  assertVictimLives(): void;
  remove(): Promise<void>;
}

/** Places files, a process, ports, sockets and System V objects on this machine that every user may reach. */
export async function setScene(asUser: readonly string[]): Promise<Scene> {
  const mark = `grange-attack-${randomUUID()}`;
  const base = mkdtempSync(join(diskDirectory(), "grange-scene-"));
  const at = (name: string) => join(base, name);
  const directories = { dataDir: at("data"), homeDir: at("home"), shownDir: at("shown") };
  for (const directory of Object.values(directories)) mkdirSync(directory);
  chmodSync(base, 0o755);
  for (const directory of Object.values(directories)) chmodSync(directory, 0o777);
  const files = {
    A_HOME: join(directories.homeDir, "secret"),
    A_TMP: `/tmp/${mark}`,
    A_VAR_TMP: `/var/tmp/${mark}`,
    A_SHM: `/dev/shm/${mark}-of-machine`,
  };
  for (const path of Object.values(files)) writeFileSync(path, "secret\n", { mode: 0o644 });
  writeFileSync(join(directories.shownDir, "of-root"), "secret\n", { mode: 0o600 });
  writeFileSync(join(directories.shownDir, "open"), "open\n", { mode: 0o666 });

  const servers = [
    await listening({ host: "127.0.0.1", port: 0 }),
    await listening({ host: "::1", port: 0 }),
    await listening({ path: at("socket") }),
    await listening({ path: `\0${mark}` }),
  ] as const;
  chmodSync(at("socket"), 0o777);
  const free = await listening({ host: "127.0.0.1", port: 0 });
  const portOfJob = portOf(free);
  await closed(free);
  const systemV = makeSystemV();
  const victim = await startVictim(asUser);

  return {
    mark,
    ...directories,
    portOfJob,
    environment: {
      ...files,
      ...systemV.environment,
      A_MARK: mark,
      A_DATA: directories.dataDir,
      A_SHOWN: directories.shownDir,
      A_PORT: `${portOf(servers[0])}`,
      A_PORT_6: `${portOf(servers[1])}`,
      A_PORT_OF_JOB: `${portOfJob}`,
      A_SOCKET: at("socket"),
      A_ABSTRACT: mark,
      A_PID: `${victim.pid}`,
    },
    assertVictimLives() {
      if (victim.exitCode !== null || victim.signalCode !== null)
        throw new Error(`a job ended a process of the machine (${victim.signalCode})`);
    },
    async remove() {
      victim.kill("SIGKILL");
      systemV.remove();
      await Promise.all(servers.map(closed));
      for (const path of [...Object.values(files), `/dev/shm/${mark}`])
        rmSync(path, { force: true });
      rmSync(base, { recursive: true, force: true });
    },
  };
}

async function listening(
  where: { readonly host: string; readonly port: number } | { readonly path: string },
): Promise<Server> {
  const server = createServer((socket) => {
    socket.on("error", () => {});
    socket.end();
  });
  server.listen(where);
  await once(server, "listening");
  return server;
}

const portOf = (server: Server) => (server.address() as AddressInfo).port;

const closed = (server: Server) => new Promise((resolve) => server.close(resolve));

/** The process that jobs must not see, read, trace or end. It belongs to the worker's user. */
async function startVictim(asUser: readonly string[]): Promise<ChildProcess> {
  const [program = "", ...args] = [
    ["env", "GRANGE_VICTIM_SECRET=1", ...asUser],
    ["bash", "-c", "echo ready; exec -a grange-victim sleep 600"],
  ].flat();
  const victim = spawn(program, args, { stdio: ["ignore", "pipe", "ignore"] });
  await once(victim.stdout, "data");
  return victim;
}

function makeSystemV() {
  const kinds = [
    { variable: "A_SYSV_MEMORY", make: ["-M", "4096"], remove: "-m" },
    { variable: "A_SYSV_QUEUE", make: ["-Q"], remove: "-q" },
    { variable: "A_SYSV_SEMAPHORE", make: ["-S", "1"], remove: "-s" },
  ];
  const made = kinds.map((kind) => {
    const printed = execFileSync("ipcmk", [...kind.make, "-p", "0666"], { encoding: "utf8" });
    return { ...kind, id: /\d+/.exec(printed)?.[0] ?? "" };
  });
  return {
    environment: Object.fromEntries(made.map(({ variable, id }) => [variable, id])),
    remove: () => {
      for (const { remove, id } of made) execFileSync("ipcrm", [remove, id]);
    },
  };
}
