import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { createServer } from "node:net";
import { Fault } from "#core/fault.ts";

/** Throws when a process listens on a port, and names the process if it is visible. */
export async function requireFreePort(port: number, host = "127.0.0.1"): Promise<void> {
  if (port === 0 || (await isFree(port, host))) return;
  const holder = portHolder(port);
  const who = holder === undefined ? "" : ` by process ${holder.pid} (${holder.command})`;
  throw new Fault(
    "failed_precondition",
    `port ${port} is in use${who}. Stop the process, or choose another port: --port ${port + 1}`,
  );
}

export function isFree(port: number, host: string): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen({ port, host, exclusive: true }, () => server.close(() => resolve(true)));
  });
}

interface PortHolder {
  readonly pid: number;
  readonly command: string;
}

/** Returns the process that listens on a port; only on Linux, and only if it is visible to this user. */
export function portHolder(port: number): PortHolder | undefined {
  const inodes = new Set(
    ["/proc/net/tcp", "/proc/net/tcp6"].flatMap((table) => listeningInodes(table, port)),
  );
  if (inodes.size === 0) return undefined;
  for (const pid of quietly(() => readdirSync("/proc"), []).filter((name) => /^\d+$/.test(name))) {
    for (const fd of quietly(() => readdirSync(`/proc/${pid}/fd`), [])) {
      const target = quietly(() => readlinkSync(`/proc/${pid}/fd/${fd}`), "");
      const inode = /^socket:\[(\d+)\]$/.exec(target)?.[1];
      if (inode === undefined || !inodes.has(inode)) continue;
      const words = quietly(() => readFileSync(`/proc/${pid}/cmdline`, "utf8"), "").split("\0");
      return { pid: Number(pid), command: words.join(" ").trim().slice(0, 120) };
    }
  }
  return undefined;
}

/** Columns of /proc/net/tcp: 1 local address, 3 state (0A: listening), 9 inode. */
function listeningInodes(table: string, port: number): string[] {
  const wanted = `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  return quietly(() => readFileSync(table, "utf8"), "")
    .split("\n")
    .map((line) => line.trim().split(/\s+/))
    .filter((words) => words[1]?.endsWith(wanted) && words[3] === "0A")
    .flatMap((words) => words[9] ?? []);
}

/** Returns a default for unreadable data: processes end, and those of other users are hidden. */
function quietly<T>(read: () => T, otherwise: T): T {
  try {
    return read();
  } catch {
    return otherwise;
  }
}
