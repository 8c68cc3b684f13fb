import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chooseRunAs } from "#db/embedded/run-as.ts";
import { freePort } from "./free-port.ts";
import { findProgram, programs } from "./needs/program.ts";
import { startProgram } from "./process.ts";

export const pgBouncerNeed = programs("PgBouncer", {
  programs: ["pgbouncer"],
  packages: ["pgbouncer"],
});

interface PgBouncer {
  /** The URL of the database, through the pooler. */
  readonly url: string;
  stop(): Promise<void>;
}

/** Starts PgBouncer in front of a database that Grange started itself. */
export async function startPgBouncer(
  databaseUrl: string,
  poolMode: "session" | "transaction" | "statement",
): Promise<PgBouncer> {
  const { pathname, searchParams } = new URL(databaseUrl);
  const user = searchParams.get("user");
  const directory = await mkdtemp(join(tmpdir(), "grange-pgbouncer-"));
  const port = await freePort();
  const settings = join(directory, "pgbouncer.ini");
  await writeFile(
    settings,
    `[databases]
* = host=${searchParams.get("host")} user=${user}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = ${poolMode}
`,
  );
  // It does not run as root.
  const [command = "", ...args] = chooseRunAs().wrap([
    findProgram("pgbouncer") ?? "pgbouncer",
    settings,
  ]);
  const program = startProgram(command, args);
  await program.note((line) => line.includes("process up"));
  return {
    url: `postgres://${user}@127.0.0.1:${port}${pathname}`,
    async stop() {
      program.signal("SIGINT");
      await program.finished;
      await rm(directory, { recursive: true, force: true });
    },
  };
}
