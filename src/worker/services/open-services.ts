import { existsSync, realpathSync, statSync } from "node:fs";
import { chmod, cp, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { create } from "@bufbuild/protobuf";
import { type ActionService, serviceLogPath } from "#core/action-services.ts";
import { Fault } from "#core/fault.ts";
import { giveToJobs, giveTreeToJobs, setpriv } from "#machine/job-owner.ts";
import { CommandSchema } from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { environmentOf } from "../action-request.ts";
import type { FurtherUsers } from "../further-users.ts";
import type { ImageToRun } from "../image/oci/open-images.ts";
import { directoryInRoot } from "../image/oci/path-in-root.ts";
import { type ContainerUser, idOutside } from "../sandbox/container-user.ts";
import type { Bind, Sandbox } from "../sandbox/sandbox.ts";
import { hostsText, type OwnNetwork, ownNetworks } from "./networks-of-services.ts";
import { type ReadyCheck, type ServiceToStart, servicesScript } from "./services-script.ts";
import { type UserOfService, userOfService } from "./user-of-service.ts";

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
  readonly users: FurtherUsers;
  /** Gives trees to a user, by ids outside of the container. */
  readonly changeOwner: (paths: readonly string[], uid: number, gid: number) => Promise<void>;
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
  const own = ownNetworks(
    services.map(({ service, image }) => ({ ...service, exposed: image.service.ports })),
  );
  const files = { directory, names, own, network: parts.network };
  const started = await Promise.all(
    services.map(async (each) => {
      const { name } = each.service;
      const { inImage } = await networkFiles(files, own.has(name) ? name : undefined);
      return prepared(each, { directory, binds: inImage, network: own.get(name) }, parts);
    }),
  );
  const hosts = await networkFiles(files);
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

interface NetworkFiles {
  readonly directory: string;
  /** Of all services. */
  readonly names: readonly string[];
  readonly own: ReadonlyMap<string, OwnNetwork>;
  readonly network: boolean;
}

/**
 * Writes the files by which names are found: those of the services, and others if there is a network. `viewer` is a
 * service with a network namespace of its own.
 */
async function networkFiles(
  { directory, names, own, network }: NetworkFiles,
  viewer?: string,
): Promise<{ readonly inImage: readonly Bind[]; readonly onMachine: readonly Bind[] }> {
  // Names of services have no dots.
  const hosts = join(directory, viewer === undefined ? "hosts.txt" : `hosts.${viewer}.txt`);
  await writeFile(hosts, hostsText(names, own, viewer));
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
  at: {
    readonly directory: string;
    readonly binds: readonly Bind[];
    readonly network: OwnNetwork | undefined;
  },
  { sandbox, path, users, changeOwner }: ServicesParts,
): Promise<ServiceToStart> {
  const { name, ready, readyTimeoutMs } = service;
  const { user, note } = await userIn(image, service, users);
  const own = join(at.directory, name);
  const [root, home, temp] = ["root", "home", "tmp"].map((part) => join(own, part)) as [
    string,
    string,
    string,
  ];
  await mkdir(own);
  for (const made of [root, home, temp]) {
    await mkdir(made, { mode: 0o755 });
    if (made === temp) await chmod(made, openMode);
    giveToJobs(made);
  }
  const writable = await writableDirectories(service, image, own);
  if (user !== undefined && user.uid !== 0)
    await changeOwner([root, home, ...writable.map(({ from }) => from)], ...ownerOutside(user));
  // A volume may be /etc.
  const binds = [...writable, ...at.binds];
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
      user,
    });
  const shell = image.programs.command("sh");
  const { entrypoint, workingDirectory } = image.service;
  const begin = [...entrypoint, ...(service.arguments ?? image.service.command)];
  if (begin.length === 0)
    throw new Fault(
      "invalid_argument",
      `the image of service ${name} has no command: name a "command" for the service`,
    );
  const changed = 'cd "$1" && shift && exec "$@"';
  return {
    name,
    timeoutMs: readyTimeoutMs,
    commandLine: within([...shell, "-c", changed, "sh", workingDirectory || "/", ...begin]),
    ready: readyCheck(ready, image, (text) => within(["/bin/sh", "-c", text])),
    network: at.network,
    note,
  };
}

async function userIn(
  { root, service: { user: ofImage } }: ImageToRun,
  { name, user: ofService }: ActionService,
  users: FurtherUsers,
): Promise<UserOfService> {
  // The farm itself has written these files; their size is limited.
  const textOf = (file: string) => readFile(join(root, "etc", file), "utf8");
  const [passwd, group] = await Promise.all([textOf("passwd"), textOf("group")]);
  return userOfService({ service: name, ofService, ofImage, passwd, group }, users);
}

function ownerOutside({ ids, uid, gid }: ContainerUser): [uid: number, gid: number] {
  const [user, group] = [idOutside(ids, uid), idOutside(ids, gid)];
  if (user === undefined || group === undefined)
    throw new Fault("internal", "the user of a service has no id outside");
  return [user, group];
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

/** The mode of /tmp: all users may write, and each removes only its own files. */
const openMode = 0o1777;

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
      const source = join(root, path);
      await mkdir(from, { mode: 0o700 });
      for (const entry of await readdir(source).catch(() => [])) {
        await cp(join(source, entry), join(from, entry), {
          recursive: true,
          verbatimSymlinks: true,
        });
      }
      // A volume is often open to all users, because its program has another one than root.
      const { mode } = statSync(source);
      await chmod(from, path === "/var/tmp" ? openMode : (mode & 0o7777) | 0o700);
      giveTreeToJobs(from);
      return { path, from, writable: true };
    }),
  );
}

function isWithin(directories: readonly string[], path: string): boolean {
  return directories.some((directory) => path === directory || path.startsWith(`${directory}/`));
}
