import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type FarmClient, farmClient, grange, readyUrl } from "./farm.ts";
import { type Program, startProgram } from "./process.ts";
import { type TcpBalancer, tcpBalancer } from "./tcp-balancer.ts";

/** A server of a farm with several. */
interface OneServer {
  readonly url: string;
  readonly program: Program;
  readonly dataDir: string;
}

/** Servers with one database and one store behind a balancer; clients and workers know only its address. */
export interface SeveralServers {
  readonly client: FarmClient;
  /** Those that run. */
  readonly servers: readonly OneServer[];
  /** Starts a server and adds it to the balancer. */
  startServer(options?: StartOptions): Promise<OneServer>;
  /** Starts a server that is expected to end by itself. */
  launch(options?: StartOptions): Program;
  /** Ends a server: with SIGTERM it finishes its calls, with SIGKILL it has no time for them. */
  endServer(server: OneServer, signal: "SIGTERM" | "SIGKILL"): Promise<void>;
  startWorker(name: string, options?: WorkerOptions): Program;
  stop(): Promise<void>;
}

interface WorkerOptions {
  /** The address of the farm; usually that of the balancer. */
  readonly server?: string;
  /** The prefix of the command line, such as that of a network namespace. */
  readonly within?: readonly string[];
}

interface StartOptions {
  /** The built program; usually that of this checkout. */
  readonly program?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/**
 * Prepares a farm without servers.
 *
 * @param env the settings that all servers share: database and store; without GRANGE_STORE and GRANGE_BLOBS, they share
 *   a directory of blobs
 */
export async function severalServers(
  env: Readonly<Record<string, string>>,
  openBalancer: () => Promise<TcpBalancer> = () => tcpBalancer("/readyz"),
): Promise<SeveralServers> {
  const top = await mkdtemp(join(tmpdir(), "grange-servers-"));
  const shared = {
    GRANGE_FARM_KEY: join(top, "farm.key"),
    GRANGE_SECRETS_KEY: join(top, "secrets.key"),
    ...(env["GRANGE_STORE"] === undefined ? { GRANGE_BLOBS: join(top, "blobs") } : {}),
    // Longer than two checks of the balancer.
    GRANGE_DRAIN_MS: "500",
    ...env,
  };
  const balancer = await openBalancer();
  const servers: OneServer[] = [];
  const workers: Program[] = [];
  let started = 0;

  const launchIn = (dataDir: string, { program = grange, env: own = {} }: StartOptions) =>
    startProgram(process.execPath, [program, "server", "--data", dataDir, "--port", "0"], {
      env: { ...shared, ...own },
    });
  const nextDirectory = () => join(top, `server-${++started}`);

  return {
    client: farmClient(balancer.url),
    servers,
    async startServer(options = {}) {
      const dataDir = nextDirectory();
      const program = launchIn(dataDir, options);
      const server = { url: await readyUrl(program), program, dataDir };
      servers.push(server);
      balancer.add(server.url);
      return server;
    },
    launch: (options = {}) => launchIn(nextDirectory(), options),
    async endServer(server, signal) {
      servers.splice(servers.indexOf(server), 1);
      server.program.signal(signal);
      await server.program.finished;
      balancer.remove(server.url);
    },
    startWorker(name, { server = balancer.url, within = [] } = {}) {
      const args = [
        grange,
        "worker",
        "--server",
        server,
        "--name",
        name,
        "--data",
        join(top, name),
      ];
      const [command = "", ...rest] = [...within, process.execPath, ...args];
      const worker = startProgram(command, rest);
      workers.push(worker);
      return worker;
    },
    async stop() {
      for (const worker of workers) worker.signal("SIGTERM");
      await Promise.all(workers.map(({ finished }) => finished));
      for (const { program } of servers) program.signal("SIGTERM");
      await Promise.all(servers.map(({ program }) => program.finished));
      await balancer.close();
      await rm(top, { recursive: true, force: true });
    },
  };
}
