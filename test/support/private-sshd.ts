import { execFile, spawn } from "node:child_process";
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { findProgram, programs } from "./needs/program.ts";

const run = promisify(execFile);

export const sshServer = programs("an ssh server", {
  programs: ["sshd", "ssh", "ssh-keygen"],
  packages: ["openssh-server", "openssh-client"],
});

/** An ssh server on loopback with separate keys, independent of the system's configuration. */
export interface PrivateSshd {
  /** `user@127.0.0.1:port` */
  readonly host: string;
  readonly port: number;
  /** Options of `grange worker` for the connection. */
  readonly access: readonly string[];
  readonly folder: string;
  /** A key that the server does not accept. */
  readonly wrongKey: string;
  /** How many connections it has accepted. */
  connections(): number;
  /**
   * Closes its connections like a lost network, without a signal to the processes that they
   * started.
   */
  cutConnections(): Promise<void>;
  stop(): Promise<void>;
}

/** `path` is the PATH of its sessions. */
export async function startPrivateSshd(path = process.env["PATH"] ?? ""): Promise<PrivateSshd> {
  // With an absolute path: sshd does not start with a relative one.
  const sshd = findProgram("sshd");
  if (sshd === undefined) throw new Error(sshServer.missing);
  const folder = await mkdtemp(join(tmpdir(), "grange-sshd-"));
  await chmod(folder, 0o755);
  const at = (name: string) => join(folder, name);
  for (const name of ["host_key", "key", "wrong_key"])
    await run("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", at(name)]);
  const port = await freePort();
  const hostKey = (await readFile(at("host_key.pub"), "utf8")).split(" ").slice(0, 2).join(" ");
  await writeFile(at("known_hosts"), `[127.0.0.1]:${port} ${hostKey}\n`);
  await writeFile(
    at("config"),
    [
      `ListenAddress 127.0.0.1:${port}`,
      `HostKey ${at("host_key")}`,
      `AuthorizedKeysFile ${at("key.pub")}`,
      "PidFile none",
      "UsePAM no",
      "StrictModes no",
      "PermitRootLogin prohibit-password",
      "PasswordAuthentication no",
      "KbdInteractiveAuthentication no",
      `SetEnv PATH=${path}`,
      "",
    ].join("\n"),
  );
  // A fixed path in the program; as root, sshd does not start without it.
  if (userInfo().uid === 0) await mkdir("/run/sshd", { recursive: true, mode: 0o755 });
  const server = spawn(sshd, ["-D", "-e", "-f", at("config")], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  const exited = new Promise<void>((resolve) => server.once("close", () => resolve()));
  let accepted = 0;
  const said: string[] = [];
  await new Promise<void>((resolve, reject) => {
    createInterface({ input: server.stderr }).on("line", (line) => {
      said.push(line);
      if (line.includes("Accepted publickey")) accepted += 1;
      if (line.includes("Server listening")) resolve();
    });
    server.once("close", () => reject(new Error(`sshd ended:\n${said.join("\n")}`)));
  });

  const cutConnections = async () => {
    for (const pid of await childrenOf(server.pid ?? 0)) killIfThere(pid);
  };
  return {
    host: `${userInfo().username}@127.0.0.1:${port}`,
    port,
    folder,
    wrongKey: at("wrong_key"),
    access: [
      "--ssh-key",
      at("key"),
      "--ssh-option",
      `UserKnownHostsFile=${at("known_hosts")}`,
      "--ssh-option",
      "StrictHostKeyChecking=yes",
    ],
    connections: () => accepted,
    cutConnections,
    async stop() {
      await cutConnections();
      server.kill("SIGTERM");
      await exited;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Returns the processes that sshd made for its connections: only its direct children. */
async function childrenOf(parent: number): Promise<number[]> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name)).map(Number);
  const parents = await Promise.all(
    pids.map(async (pid) => {
      const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
      return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
    }),
  );
  return pids.filter((_, at) => parents[at] === parent);
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const address = server.address();
      const port = typeof address === "object" && address !== null ? address.port : 0;
      server.close(() => resolve(port));
    });
  });
}

function killIfThere(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // Its connection has just ended by itself.
  }
}
