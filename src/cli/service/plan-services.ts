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
  /** The words that run grange: Node and the program. */
  readonly grange: readonly string[];
  /** The farm of worker and granary when no server is installed with them. */
  readonly server?: string | undefined;
  /** How the worker or granary is known to that farm. */
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

/** The server that `grange service install` installs, as its neighbours reach it. */
const serverHere = "http://127.0.0.1:8980";

/** Returns the unit and the environment file of each role, in the order in which they start. */
export function planServices(options: ServiceOptions): PlannedService[] {
  const { scope } = options;
  if (options.server !== undefined && options.roles.includes("server")) {
    throw new UsageError(
      "--server names a farm elsewhere, and this installs one here: leave out --server, or name the roles that you want, such as `grange service install worker --server URL`",
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
  // The manager of a user has no network-online.target; its services start after login anyway.
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
    // A farm that is away for an hour must not leave its workers ended for good.
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
    // A worker ends its jobs, and a database writes its data.
    ["TimeoutStopSec", "60"],
    // A job that takes all memory ends the job, not the worker beside it.
    ...(role === "worker"
      ? ([
          ["OOMPolicy", "continue"],
          // Lets the worker limit its slots by control groups of its own.
          ["Delegate", "yes"],
        ] as const)
      : []),
  ];
}

function commandOf(role: Role, options: ServiceOptions): string[] {
  // At its default place, where `grange exec` looks for it.
  if (role === "granary") return ["granary"];
  const { data } = placesOf(options.scope);
  const own = ["--data", join(data, role)];
  if (role === "server") return ["server", ...own, "--owner-token"];
  if (!options.roles.includes("server")) return ["worker", ...own];
  const server = join(data, "server");
  // The server makes the token when it first starts; until then systemd starts the worker again.
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
 * that sees one with covered parts, so the worker has none of the settings that cover parts of /proc or /sys
 * (ProtectKernelTunables, ProtectKernelLogs, ProtectControlGroups, ProtectProc, PrivateDevices, ProtectHostname), and
 * none that forbid namespaces or mounts. Every service may write and execute memory, because Node compiles JavaScript.
 * The manager of a user lacks the rights for most settings.
 */
function hardening(role: Role, scope: Scope["kind"]): Section {
  const always: Section = [["NoNewPrivileges", "yes"]];
  // Not for the worker: jobs would inherit it, and make files with other modes than elsewhere.
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
