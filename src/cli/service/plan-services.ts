import { join } from "node:path";
import { UsageError } from "../usage-error.ts";
import { environmentText } from "./environment-file.ts";
import { execLine, pathValue, type Section, unitText } from "./unit-text.ts";

export const roles = ["server", "worker", "granary"] as const;
export type Role = (typeof roles)[number];

/** The owner of the services: the machine, with a user of their own, or the user who installs them. */
export type Scope =
  | { readonly kind: "system"; readonly runAs: string }
  | { readonly kind: "user"; readonly home: string; readonly configHome: string };

export interface ServiceOptions {
  readonly roles: readonly Role[];
  readonly scope: Scope;
  /** The command words of grange: Node and the program. */
  readonly grange: readonly string[];
  /** The farm for worker and granary when no server is installed with them. */
  readonly server?: string | undefined;
  /** The credentials of the worker or granary at that farm. */
  readonly token?: string | undefined;
  /** Further content of the environment files of every role. */
  readonly settings: Readonly<Record<string, string>>;
}

export interface PlannedService {
  readonly role: Role;
  readonly unitName: string;
  readonly unitFile: string;
  readonly unitText: string;
  readonly environmentFile: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly environmentText: string;
}

/** The address of the server that `grange service install` installs, for the other services of the machine. */
const serverHere = "http://127.0.0.1:8980";

/** Returns the unit and the environment file of each role, in the order in which they start. */
export function planServices(options: ServiceOptions): PlannedService[] {
  const { scope } = options;
  if (options.server !== undefined && options.roles.includes("server")) {
    throw new UsageError(
      "--server names another farm, but this command installs a farm here. Omit --server, or name the roles that you want, such as `grange service install worker --server URL`",
    );
  }
  if (options.roles.includes("granary") && scope.kind === "system") {
    throw new UsageError(
      "a granary belongs to one user, whose builds it serves: install it with `grange service install granary --user`",
    );
  }
  const places = placesOf(scope);
  return roles
    .filter((role) => options.roles.includes(role))
    .map((role) => {
      const unitName = unitNameOf(role);
      const environmentFile = join(places.settings, `${role}.env`);
      const environment = environmentOf(role, options);
      return {
        role,
        unitName,
        unitFile: join(places.units, unitName),
        unitText: unitText({
          unit: unitSection(role, options),
          service: [
            ...processSection(role, options, environmentFile),
            ...hardening(role, scope.kind),
          ],
          install: [["WantedBy", scope.kind === "system" ? "multi-user.target" : "default.target"]],
        }),
        environmentFile,
        environment,
        environmentText: environmentText(environment),
      };
    });
}

export function unitNameOf(role: Role): string {
  return `grange-${role}.service`;
}

export function placesOf(scope: Scope): { units: string; settings: string; data: string } {
  if (scope.kind === "system") {
    return { units: "/etc/systemd/system", settings: "/etc/grange", data: "/var/lib/grange" };
  }
  return {
    units: join(scope.configHome, "systemd", "user"),
    settings: join(scope.configHome, "grange"),
    data: join(scope.home, ".local", "share", "grange"),
  };
}

const described: Record<Role, string> = {
  server: "server of a commit farm",
  worker: "worker of a commit farm",
  granary: "cache of this machine for a commit farm",
};

function unitSection(role: Role, { roles: installed, scope }: ServiceOptions): Section {
  // The systemd manager of a user has no network-online.target; its services start after login anyway.
  const network: Section =
    scope.kind === "system"
      ? [
          ["Wants", "network-online.target"],
          ["After", "network-online.target"],
        ]
      : [];
  const server: Section =
    role !== "server" && installed.includes("server") ? [["After", unitNameOf("server")]] : [];
  return [
    ["Description", `Grange: ${described[role]}`],
    ...network,
    ...server,
    // When a farm is unreachable for an hour, its workers must not stay stopped.
    ["StartLimitIntervalSec", "0"],
  ];
}

function processSection(role: Role, options: ServiceOptions, environmentFile: string): Section {
  const { scope, grange } = options;
  const own: Section =
    scope.kind === "system"
      ? [
          ["User", scope.runAs],
          ["StateDirectory", `grange grange/${role}`],
          ["StateDirectoryMode", "0700"],
        ]
      : [];
  return [
    ["Type", "exec"],
    ...own,
    ["EnvironmentFile", pathValue(environmentFile)],
    ["ExecStart", execLine([...grange, ...commandOf(role, options)])],
    ["Restart", "always"],
    ["RestartSec", "2"],
    // A worker ends its jobs, and a database writes its data, within this time.
    ["TimeoutStopSec", "60"],
    // When a job uses all memory, the kernel ends the job, not its worker.
    ...(role === "worker"
      ? ([
          ["OOMPolicy", "continue"],
          // Allows the worker to limit its slots with its own control groups.
          ["Delegate", "yes"],
        ] as const)
      : []),
  ];
}

function commandOf(role: Role, options: ServiceOptions): string[] {
  // At its default location, where `grange exec` searches for it.
  if (role === "granary") return ["granary"];
  const { data } = placesOf(options.scope);
  const own = ["--data", join(data, role)];
  if (role === "server") return ["server", ...own, "--owner-token"];
  if (!options.roles.includes("server")) return ["worker", ...own];
  const server = join(data, "server");
  // The server creates the token at its first start; until then systemd restarts the worker.
  return ["worker", ...own, "--hide", server, "--token-file", join(server, "worker-token")];
}

function environmentOf(role: Role, options: ServiceOptions): Record<string, string> {
  if (role === "server") return { ...options.settings };
  const server = options.roles.includes("server") ? serverHere : options.server;
  return {
    ...(server === undefined ? {} : { GRANGE_SERVER: server }),
    ...(options.token === undefined
      ? {}
      : { [role === "worker" ? "GRANGE_WORKER_TOKEN" : "GRANGE_TOKEN"]: options.token }),
    ...options.settings,
  };
}

/**
 * Returns the restrictions that systemd puts on each service.
 *
 * Jobs run in namespaces that the worker makes, with a /proc of their own. The kernel refuses a new /proc to a process
 * whose own /proc has hidden parts, so the worker has none of the settings that hide parts of /proc or /sys
 * (ProtectKernelTunables, ProtectKernelLogs, ProtectControlGroups, ProtectProc, PrivateDevices, ProtectHostname), and
 * none that forbid namespaces or mounts. Every service may write and execute memory, because Node compiles JavaScript.
 * The manager of a user lacks the rights for most settings.
 */
function hardening(role: Role, scope: Scope["kind"]): Section {
  const always: Section = [["NoNewPrivileges", "yes"]];
  // Not for the worker: jobs would inherit it, and create files with other modes than on other machines.
  const closedFiles: Section = role === "worker" ? [] : [["UMask", "0077"]];
  if (scope === "user") return [...always, ...closedFiles];
  const system: Section = [
    ...always,
    ...closedFiles,
    ["CapabilityBoundingSet", ""],
    ["PrivateTmp", "yes"],
    ["RestrictRealtime", "yes"],
  ];
  if (role === "worker") return [...system, ["ProtectSystem", "full"]];
  return [
    ...system,
    ["ProtectSystem", "strict"],
    ["ProtectHome", "read-only"],
    ["PrivateDevices", "yes"],
    ["ProtectClock", "yes"],
    ["ProtectControlGroups", "yes"],
    ["ProtectHostname", "yes"],
    ["ProtectKernelLogs", "yes"],
    ["ProtectKernelModules", "yes"],
    ["ProtectKernelTunables", "yes"],
    ["ProtectProc", "invisible"],
    ["RestrictAddressFamilies", "AF_UNIX AF_INET AF_INET6 AF_NETLINK"],
    ["RestrictNamespaces", "yes"],
    ["RestrictSUIDSGID", "yes"],
    ["LockPersonality", "yes"],
    ["SystemCallArchitectures", "native"],
    ["SystemCallFilter", "@system-service"],
  ];
}
