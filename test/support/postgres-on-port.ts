import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import { findBinaries } from "#db/embedded/binaries.ts";
import { chooseRunAs } from "#db/embedded/run-as.ts";

/** Those of an embedded PostgreSQL. */
export const userOnPort = "grange";
export const databaseOnPort = "postgres";

/** Starts PostgreSQL on a port of the loopback address; everybody there is trusted. */
export async function startPostgresOnPort(
  dataDir: string,
  port: number,
  settings: Readonly<Record<string, string>> = {},
): Promise<ChildProcess> {
  const { postgres } = await findBinaries();
  const all = {
    listen_addresses: "127.0.0.1",
    port: String(port),
    unix_socket_directories: "",
    max_connections: "60",
    shared_buffers: "64MB",
    log_min_messages: "warning",
    // Tests kill processes, not the machine.
    fsync: "off",
    ...settings,
  };
  const args = Object.entries(all).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  const [command = "", ...rest] = chooseRunAs().wrap([postgres, "-D", dataDir, ...args]);
  const server = spawn(command, rest, { stdio: ["ignore", "ignore", "pipe"] });
  let printed = "";
  server.stderr?.on("data", (part: Buffer) => (printed += part.toString()));
  for (;;) {
    if (server.exitCode !== null) throw new Error(`PostgreSQL ended: ${printed}`);
    const isReady = await queryOnPort(port, "select 1").then(
      () => true,
      () => false,
    );
    if (isReady) return server;
    await delay(20);
  }
}

/** Ends all processes of a server: its others end when the first one does. */
export async function endPostgresOnPort(
  server: ChildProcess,
  signal: "SIGINT" | "SIGKILL",
): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return;
  const ended = once(server, "exit");
  server.kill(signal);
  await ended;
}

/** Returns the number of rows. */
export async function queryOnPort(port: number, text: string): Promise<number> {
  const client = new pg.Client({
    host: "127.0.0.1",
    port,
    user: userOnPort,
    database: databaseOnPort,
  });
  client.on("error", () => {});
  try {
    await client.connect();
    return (await client.query(text)).rowCount ?? 0;
  } finally {
    await client.end().catch(() => {});
  }
}
