import { type ExitCode, exitCodes } from "../exit-code.ts";
import type { Session } from "../session.ts";
import { stopRequest } from "../stop-request.ts";
import { accessOf, placeOf, type SshOptions, wantedWorkers } from "./ssh-options.ts";
import {
  type Done,
  failed,
  type HeldTunnel,
  type SshWorker,
  startSshWorker,
  statusOfSshWorker,
  stopSshWorker,
} from "./ssh-worker.ts";
import { keepTunnel } from "./tunnel.ts";
import { readWorkerBundle } from "./worker-bundle.ts";

interface Opened {
  readonly worker: SshWorker;
  readonly held: HeldTunnel;
}

/** Starts, stops or shows workers on other machines, all at the same time. */
export async function runSshWorkers(
  options: SshOptions,
  { config, terminal }: Session,
  entry: string,
): Promise<ExitCode> {
  const defaults = {
    server: config.workerServerUrl ?? config.serverUrl,
    token: config.workerToken,
    ca: config.ca,
  };
  const wanted = wantedWorkers(options, defaults);
  const shared = {
    access: accessOf(options),
    place: placeOf(options),
    bundle: await readWorkerBundle(entry),
  };
  const opened: Opened[] = [];
  let exitCode: ExitCode = exitCodes.ok;
  const results = await Promise.all(
    wanted.map(async (each) => {
      const worker = { ...each, ...shared };
      try {
        return await runOne(worker, options, (held) => opened.push({ worker, held }));
      } catch (reason) {
        exitCode = exitCodes.failed;
        const result = failed(worker, reason);
        terminal.notes.line(`${terminal.notes.paint.red("error:")} ${result.lines.join("\n")}`);
        return { ...result, lines: [] };
      }
    }),
  );
  if (options.json === true) {
    const list = results.map(({ host, name, data }) => ({ host, name, ...data }));
    terminal.answer.line(JSON.stringify(list, undefined, 2));
  } else for (const line of results.flatMap(({ lines }) => lines)) terminal.answer.line(line);
  if (opened.length > 0) await keepTunnels(opened, (line) => terminal.notes.line(line));
  return exitCode;
}

async function runOne(
  worker: SshWorker,
  options: SshOptions,
  keep: (held: HeldTunnel) => void,
): Promise<Done> {
  if (options.stop === true) return stopSshWorker(worker);
  if (options.status === true) return statusOfSshWorker(worker);
  const { held, ...done } = await startSshWorker(worker);
  if (held !== undefined) keep(held);
  return done;
}

/** Keeps the tunnels open until Ctrl-C. The workers continue; they keep their jobs as long as their leases last. */
async function keepTunnels(opened: readonly Opened[], say: (line: string) => void): Promise<void> {
  say(
    "The tunnel is open until Ctrl-C. Without the tunnel, a worker continues to run and waits for it.",
  );
  const stop = new AbortController();
  void stopRequest(false).received.then(() => stop.abort());
  await Promise.all(
    opened.map(({ worker: { host, access, settings }, held: { tunnel, moved } }) =>
      keepTunnel(tunnel, { host, access, server: settings.server }, moved, stop.signal, say),
    ),
  );
}
