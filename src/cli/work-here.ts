import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { type Command, InvalidArgumentError } from "commander";
import { parseMemorySize } from "#core/memory-size.ts";
import type { WorkerConfig } from "#worker/config.ts";
import { logLevel, repeated, speaksToServer } from "./common-options.ts";
import { durationMs } from "./duration-ms.ts";
import { farmFromStdin } from "./farm-from-stdin.ts";
import { runService } from "./run-service.ts";
import { tokenFor } from "./token-file.ts";
import { wholeNumber } from "./whole-number.ts";

export interface WorkOptions {
  readonly server?: string;
  readonly tokenFile?: string;
  readonly enrol?: string;
  readonly name?: string;
  readonly data?: string;
  readonly slots?: number;
  readonly sizeClass?: number;
  /** Null: the whole machine. */
  readonly cpus?: AmountOrAll;
  readonly memory?: AmountOrAll;
  readonly disk?: AmountOrAll;
  readonly ca?: string;
  readonly clientCert?: string;
  readonly clientKey?: string;
  readonly show?: readonly string[];
  readonly hide?: readonly string[];
  readonly allowRootJobs?: boolean;
  readonly allowCalls?: string;
  readonly privateNetwork?: boolean;
  /** False with `--no-namespaces`. */
  readonly namespaces?: boolean;
  readonly registries?: string;
  readonly preload?: readonly string[];
  readonly onlyFor?: readonly string[];
  readonly lease?: number;
  readonly persistentWorkers?: number;
  readonly once?: boolean;
  readonly logLevel: string;
  readonly endWithParent?: boolean;
  readonly settings?: string;
  readonly farmFromStdin?: boolean;
}

/** A child of `grange up` must end within two seconds of Ctrl-C; others may complete their work. */
const hurry = { drainMs: 500, killGraceMs: 1_000 };

/** Adds the options of a worker on any machine. */
export function withWorkOptions(command: Command): Command {
  return speaksToServer(command)
    .option(
      "--name <name>",
      "the name, which must be unique in the farm (GRANGE_WORKER_NAME; default: the host name)",
    )
    .option("--data <dir>", "the directory of its store and temporary files (GRANGE_WORKER_DATA)")
    .option("--slots <n>", "the number of jobs at the same time (GRANGE_WORKER_SLOTS)", wholeNumber)
    .option(
      "--size-class <n>",
      "its size class: its size compared with other workers (GRANGE_WORKER_SIZE_CLASS)",
      wholeNumber,
    )
    .option(
      "--cpus <n>",
      "CPUs of one slot, such as 2 or 0.5, or all (GRANGE_WORKER_CPUS; default with a size class: an equal share)",
      cpuCount,
    )
    .option(
      "--memory <size>",
      "memory of one slot, such as 4G, or all (GRANGE_WORKER_MEMORY; default with a size class: an equal share)",
      memorySize,
    )
    .option(
      "--disk <size>",
      "disk space that an action may use while it runs, such as 20G, or all (GRANGE_WORKER_DISK; default: all)",
      diskSize,
    )
    .option(
      "--enrol <token-or-file>",
      "an enrolment token, which is exchanged once for a token of its own in its data directory (GRANGE_ENROL)",
    )
    .option(
      "--ca <file>",
      "also trust this certificate authority for the TLS of the farm (GRANGE_CA)",
    )
    .option(
      "--client-cert <file>",
      "use this client certificate with TLS; its name is the principal (GRANGE_CLIENT_CERT)",
    )
    .option("--client-key <file>", "the certificate's key (GRANGE_CLIENT_KEY)")
    .option(
      "--allow-root-jobs",
      "as root, run jobs as root if no sandbox is available (GRANGE_ALLOW_ROOT_JOBS)",
    )
    .option(
      "--allow-calls <names>",
      "system calls to allow that are normally refused, such as perf_event_open,userfaultfd (GRANGE_WORKER_ALLOW_CALLS)",
    )
    .option(
      "--no-namespaces",
      "do not let jobs create user namespaces, which sandboxes inside jobs need (GRANGE_WORKER_NO_NAMESPACES)",
    )
    .option(
      "--private-network",
      "give jobs with network access their own network without the loopback of the machine, by slirp4netns (GRANGE_WORKER_PRIVATE_NETWORK)",
    )
    .option(
      "--show <path>",
      "a directory or file that jobs see, besides /usr, /etc, /opt and programs on PATH; may be repeated (GRANGE_WORKER_SHOW)",
      repeated,
    )
    .option("--hide <path>", "a directory or file that jobs do not see; may be repeated", repeated)
    .option(
      "--registries <hosts>",
      "registries of container images, separated by commas; without this option, the worker runs no images (GRANGE_WORKER_REGISTRIES)",
    )
    .option(
      "--preload <image>",
      "pull this container image before the first job; may be repeated",
      repeated,
    )
    .option(
      "--only-for <property>",
      "take only jobs that ask for this platform property; may be repeated (GRANGE_WORKER_ONLY_FOR)",
      repeated,
    )
    .option(
      "--lease <time>",
      "how long its jobs continue without a connection to the farm, such as 20m; at most an hour",
      durationMs,
    )
    .option(
      "--persistent-workers <n>",
      "keep up to this many processes for further actions of the same tool, as Bazel's persistent workers (GRANGE_WORKER_PERSISTENT_WORKERS; default: 0)",
      wholeNumber,
    )
    .option("--once", "run one job, deliver its result, and exit")
    .addOption(logLevel())
    .addOption(command.createOption("--settings <file>").hideHelp())
    .addOption(command.createOption("--farm-from-stdin").hideHelp())
    .addOption(command.createOption("--end-with-parent").hideHelp());
}

/** Commander changes a parsed null to an empty text, so `all` is kept as a word until later. */
export type AmountOrAll = number | "all";

function cpuCount(text: string): AmountOrAll {
  if (text === "all") return text;
  const cpus = Number(text);
  if (Number.isFinite(cpus) && cpus > 0) return cpus;
  throw new InvalidArgumentError("CPUs are a number such as 2 or 0.5.");
}

function memorySize(text: string): AmountOrAll {
  if (text === "all") return text;
  const bytes = parseMemorySize(text);
  if (bytes !== undefined) return bytes;
  throw new InvalidArgumentError('Memory is an amount such as "4G" or "512MiB".');
}

function diskSize(text: string): AmountOrAll {
  if (text === "all") return text;
  const bytes = parseMemorySize(text);
  if (bytes !== undefined) return bytes;
  throw new InvalidArgumentError('Disk is an amount such as "20G" or "512MiB".');
}

/** Runs a worker in this process, until it is stopped. */
export async function workHere(given: WorkOptions, version: string): Promise<never> {
  const { readWorkerConfig } = await import("#worker/config.ts");
  const { givenSettings } = await import("./given-settings.ts");
  const { readAuthorities } = await import("#grpc/authorities.ts");
  const { readClientCertificate } = await import("#grpc/client-certificate.ts");
  const { startWorker } = await import("#worker/start-worker.ts");
  return runService(
    { ...given, kind: "worker" },
    async (logger, tracing) => {
      // All code is loaded at this point, while the farm's server was starting.
      const options =
        given.farmFromStdin === true ? { ...given, ...(await farmFromStdin()) } : given;
      const token = await tokenFor(options.tokenFile, undefined);
      const clientCertificate = readClientCertificate(options.clientCert, options.clientKey);
      const config = readWorkerConfig({
        version,
        ...(token === undefined ? {} : { token }),
        ...(clientCertificate === undefined ? {} : { clientCertificate }),
        ...(options.server === undefined ? {} : { server: options.server }),
        ...(options.name === undefined ? {} : { name: options.name }),
        ...(options.data === undefined ? {} : { dataDir: resolve(options.data) }),
        ...(options.ca === undefined ? {} : { ca: readAuthorities(options.ca) }),
        ...givenSettings({
          ...options,
          ...(options.show === undefined ? {} : { show: absolute(options.show) }),
          ...(options.hide === undefined ? {} : { hide: absolute(options.hide) }),
        }),
        ...(options.endWithParent === true ? hurry : {}),
        ...(await settingsFrom(options.settings)),
      });
      return startWorker(
        await hideFarmData(await asItself(config, options.enrol), options),
        logger,
        tracing,
      );
    },
    () => ({}),
  );
}

function absolute(paths: readonly string[]): string[] {
  return paths.map((path) => resolve(path));
}

/** Hides from jobs the data of farms on this machine and the credentials of this worker, also without `--hide`. */
export async function hideFarmData(
  config: WorkerConfig,
  { tokenFile, clientKey, enrol }: Pick<WorkOptions, "tokenFile" | "clientKey" | "enrol">,
): Promise<WorkerConfig> {
  const { farmDataHere } = await import("./up/farm-data-here.ts");
  const { secretFilesHere } = await import("./up/secret-files-here.ts");
  const { readCliConfig } = await import("./config.ts");
  const { dataDir, hiddenPaths } = config;
  const { dataDir: named, secretFiles } = readCliConfig();
  const farms = farmDataHere({
    named,
    here: process.cwd(),
    used: [dataDir, ...(tokenFile === undefined ? [] : [tokenFile])],
  });
  const files = secretFilesHere(farms, [...secretFiles, tokenFile, clientKey, enrol]);
  return { ...config, hiddenPaths: [...hiddenPaths, ...farms, ...files] };
}

/** Uses the worker's own token, of this or an earlier enrolment; a given token takes precedence. */
async function asItself(config: WorkerConfig, givenToken: string | undefined) {
  if (config.token !== undefined) return config;
  const { ownToken } = await import("./enrol/own-token.ts");
  const { readCliConfig } = await import("./config.ts");
  const enrol = givenToken ?? readCliConfig().enrol;
  const folder = join(config.dataDir, "enrolled");
  const { server, ca, name, hiddenPaths } = config;
  const file = join(folder, `${name}.json`);
  const token = await ownToken({ kind: "worker", server, ca, enrol, file });
  if (token === undefined) return config;
  // A job runs as the same user, and must not read the token.
  return { ...config, token, hiddenPaths: [...hiddenPaths, folder] };
}

/** Reads the settings that were written when the worker was started over ssh: a token must not be on a command line. */
async function settingsFrom(file: string | undefined): Promise<object> {
  if (file === undefined) return {};
  const { WorkerSettings } = await import("./ssh/worker-settings.ts");
  const { WorkerFolder } = await import("./ssh/there/worker-folder.ts");
  const { keepLogShort } = await import("./ssh/there/short-log.ts");
  const {
    logLevel: _,
    tunnel,
    ...settings
  } = WorkerSettings.parse(JSON.parse(await readFile(file, "utf8")));
  const directory = resolve(file, "../../..");
  const { dataDir, serverFile, logFile } = new WorkerFolder(directory, settings.name);
  keepLogShort(logFile);
  // A job runs as the same user, and must not read the token.
  const hiddenPaths = [...settings.hiddenPaths, join(directory, "workers")];
  return {
    ...settings,
    dataDir,
    hiddenPaths,
    transport: "ssh",
    ...(tunnel ? { serverFile } : {}),
  };
}
