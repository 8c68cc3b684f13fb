import { startEmbeddedPostgres } from "./embedded-postgres.ts";

// A process that owns a PostgreSQL, which tests kill. It prints where its PostgreSQL is.
const [dataDir = ""] = process.argv.slice(2);
const server = await startEmbeddedPostgres({ dataDir });
process.stdout.write(`${JSON.stringify({ pid: server.pid(), url: server.url })}\n`);
setInterval(() => {}, 60_000);
