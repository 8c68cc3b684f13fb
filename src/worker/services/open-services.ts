import { existsSync, realpathSync } from "node:fs";
import { cp, mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { create } from "@bufbuild/protobuf";
import { type ActionService, serviceLogPath } from "#core/action-services.ts";
import { Fault } from "#core/fault.ts";
import { giveToJobs, giveTreeToJobs, setpriv } from "#machine/job-owner.ts";
import { CommandSchema } from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { environmentOf } from "../action-request.ts";
import type { ImageToRun } from "../image/oci/open-images.ts";
import { directoryInRoot } from "../image/oci/path-in-root.ts";
import type { Bind, Sandbox } from "../sandbox/sandbox.ts";
import { type ReadyCheck, type ServiceToStart, servicesScript } from "./services-script.ts";

/** The name server of slirp4netns; see slirp4netns(1). */
const nameServer = "10.0.2.3";

/** A service with its image on this machine. */
interface ServiceInImage {
  readonly service: ActionService;
  readonly image: ImageToRun;
}

interface ServicesParts {
  readonly sandbox: Sandbox;
  /** A command that activates the loopback interface of its network namespace. */
  readonly loopback: string;
  /** The PATH for commands without one. */
  readonly path: string;
  /** The directory of the execution. */
  readonly scratch: string;
  readonly network: boolean;
  /** Whether the command itself runs in an image. */
  readonly commandHasImage: boolean;
}

/** The prepared services of an execution. */
export interface OpenServices {
  /** What the command of the action finds in its sandbox, besides its own files. */
  readonly binds: readonly Bind[];
  /** The directory in which all services write; it counts for the disk quota of the execution. */
  readonly directory: string;
  /** Returns a command line that runs the services, and the command of the action beside them. */
  commandLine(command: readonly string[]): string[];
  /** The files with the logs, by their path among the outputs. */
  readonly logs: readonly { readonly path: string; readonly file: string }[];
}

/**
 * Prepares the directories and command lines of services. Throws `invalid_argument` for a service that its image does
 * not allow.
 */
export async function openServices(
  services: readonly ServiceInImage[],
  parts: ServicesParts,
): Promise<OpenServices> {
  const directory = join(parts.scratch, "services");
  await mkdir(directory);
  const names = services.map(({ service }) => service.name);
  const hosts = await networkFiles(directory, names, parts.network);
  const started = await Promise.all(
    services.map((each) => prepared(each, directory, hosts.inImage, parts)),
  );
  const file = join(directory, "run.sh");
  const { loopback, network } = parts;
  await writeFile(file, servicesScript({ directory, services: started, loopback, network }));
  return {
    binds: parts.commandHasImage ? hosts.inImage : hosts.onMachine,
    directory,
    commandLine: (command) => [setpriv, "--pdeathsig", "KILL", "--", "sh", file, ...command],
    logs: names.map((name) => ({
      path: serviceLogPath(name),
      file: join(directory, `${name}.log`),
    })),
  };
}

/** Writes the files by which names are found: those of the services, and others if there is a network. */
async function networkFiles(directory: string, names: readonly string[], network: boolean) {
  // Names of services have no dots.
  const hosts = join(directory, "hosts.txt");
  await writeFile(hosts, `127.0.0.1 localhost grange ${names.join(" ")}\n::1 localhost\n`);
  const servers = join(directory, "resolv.conf");
  await writeFile(servers, `nameserver ${nameServer}\n`);
  const bind = (path: string, from: string): Bind => ({ path, from, writable: false });
  const ifThere = (path: string, from: string) =>
    existsSync(path) ? [bind(realpathSync(path), from)] : [];
  return {
    inImage: [bind("/etc/hosts", hosts), ...(network ? [bind("/etc/resolv.conf", servers)] : [])],
    onMachine: [
      ...ifThere("/etc/hosts", hosts),
      ...(network ? ifThere("/etc/resolv.conf", servers) : []),
    ],
  };
}

async function prepared(
  { service, image }: ServiceInImage,
  above: string,
  network: readonly Bind[],
  { sandbox, path }: ServicesParts,
): Promise<ServiceToStart> {
  const { name, ready, readyTimeoutMs } = service;
  const own = join(above, name);
  const [root, home, temp] = ["root", "home", "tmp"].map((part) => join(own, part)) as [
    string,
    string,
    string,
  ];
  await mkdir(own);
  for (const made of [root, home, temp]) {
    await mkdir(made, { mode: made === temp ? 0o777 : 0o755 });
    giveToJobs(made);
  }
  // A volume may be /etc.
  const binds = [...(await writableDirectories(service, image, own)), ...network];
  const command = create(CommandSchema, {
    environmentVariables: Object.entries(service.environment).map(([variable, value]) => ({
      name: variable,
      value,
    })),
  });
  const places = sandbox.placesOf({ root, temp, home });
  const environment = environmentOf(command, { ...places, path }, image.environment);
  const within = (argv: readonly string[]) =>
    sandbox.commandLine({
      arguments: argv,
      environment,
      root,
      temp,
      home,
      workingDirectory: "",
      network: false,
      inNamespace: true,
      image,
      binds,
    });
  const shell = image.programs.command("sh");
  const { entrypoint, workingDirectory } = image.service;
  const begin = [...entrypoint, ...(service.arguments ?? image.service.command)];
  if (begin.length === 0)
    throw new Fault(
      "invalid_argument",
      `the image of service ${name} says nothing to start: name a "command" for the service`,
    );
  const changed = 'cd "$1" && shift && exec "$@"';
  return {
    name,
    timeoutMs: readyTimeoutMs,
    commandLine: within([...shell, "-c", changed, "sh", workingDirectory || "/", ...begin]),
    ready: readyCheck(ready, image, (text) => within(["/bin/sh", "-c", text])),
  };
}

function readyCheck(
  ready: ActionService["ready"],
  { service }: ImageToRun,
  inImage: (command: string) => readonly string[],
): ReadyCheck {
  if (ready?.command !== undefined) return { kind: "command", commandLine: inImage(ready.command) };
  const port = ready?.port ?? service.ports[0];
  return port === undefined ? { kind: "started" } : { kind: "port", port };
}

/** The sandbox mounts these itself. */
const reserved = ["/proc", "/dev", "/sys", "/tmp", "/grange"];

/** Returns the directories of the image in which a service writes. They begin with the files of the image. */
async function writableDirectories(
  { name, writable }: ActionService,
  { root, service }: ImageToRun,
  own: string,
): Promise<Bind[]> {
  const wanted = [
    ...service.volumes.map((path) => ({ path, isWanted: false })),
    ...writable.map((path) => ({ path, isWanted: true })),
  ];
  const paths = new Set(["/run", "/var/tmp"]);
  for (const { path, isWanted } of wanted) {
    const found = directoryInRoot(root, path);
    const isMade = found !== undefined && found !== "/" && !isWithin(reserved, found);
    if (isMade) paths.add(found);
    else if (isWanted)
      throw new Fault(
        "invalid_argument",
        `service ${name} cannot write in ${path}: ${found === undefined ? "its image has no such directory" : "the sandbox mounts it"}`,
      );
  }
  const all = [...paths].toSorted();
  // An inner directory is a part of the copy of the outer one.
  const outer = all.filter(
    (path) =>
      !isWithin(
        all.filter((other) => other !== path),
        path,
      ),
  );
  return Promise.all(
    outer.map(async (path, index): Promise<Bind> => {
      const from = join(own, `writable-${index}`);
      await mkdir(from, { mode: 0o755 });
      const source = join(root, path);
      for (const entry of await readdir(source).catch(() => [])) {
        await cp(join(source, entry), join(from, entry), {
          recursive: true,
          verbatimSymlinks: true,
        });
      }
      giveTreeToJobs(from);
      return { path, from, writable: true };
    }),
  );
}

function isWithin(directories: readonly string[], path: string): boolean {
  return directories.some((directory) => path === directory || path.startsWith(`${directory}/`));
}
