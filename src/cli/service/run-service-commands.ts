import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { homedir, userInfo } from "node:os";
import { join, sep } from "node:path";
import { Fault } from "#core/fault.ts";
import { type ExitCode, exitCodes } from "../exit-code.ts";
import { answer, type Session } from "../session.ts";
import { tableLines } from "../terminal/table.ts";
import { tokenFor } from "../token-file.ts";
import { UsageError } from "../usage-error.ts";
import { environmentText, settingsOf, withoutSecrets } from "./environment-file.ts";
import { installServices, uninstallServices } from "./install-services.ts";
import {
  roles as allRoles,
  type PlannedService,
  placesOf,
  planServices,
  type Role,
  type Scope,
  unitNameOf,
} from "./plan-services.ts";
import { serviceStates } from "./service-states.ts";
import { openSystemctl } from "./systemd.ts";

export interface ScopeOptions {
  readonly user?: boolean;
  readonly system?: boolean;
  readonly json?: boolean;
}

export interface InstallOptions extends ScopeOptions {
  readonly runAs?: string;
  readonly server?: string;
  readonly tokenFile?: string;
  readonly env?: readonly string[];
  readonly dryRun?: boolean;
}

export async function runInstall(
  words: readonly string[],
  options: InstallOptions,
  session: Session,
  entry: string,
): Promise<ExitCode> {
  const chosen = rolesOf(words);
  const scope = scopeOf(options, session);
  const services = planServices({
    roles: chosen.length === 0 ? ["server", "worker"] : chosen,
    scope,
    grange: [process.execPath, builtEntry(entry)],
    server: options.server,
    token: await tokenFor(options.tokenFile, undefined),
    settings: settingsOf(options.env ?? []),
  });
  if (options.dryRun === true) {
    return answer(session, options, services.map(shown), () => services.flatMap(linesOf));
  }
  const systemctl = await openSystemctl(scope.kind);
  if (scope.kind === "system") {
    requireRoot();
    requireUser(scope.runAs);
    requireReadable([process.execPath, entry], scope.runAs);
  }
  await installServices(services, systemctl);
  if (scope.kind === "user") {
    session.terminal.notes.line(
      "They run only while you are logged in. To run them always: loginctl enable-linger",
    );
  }
  return answer(session, options, services.map(shown), () =>
    services.map(
      ({ unitName, environmentFile }) => `${unitName} is running; its settings: ${environmentFile}`,
    ),
  );
}

export async function runUninstall(
  words: readonly string[],
  options: ScopeOptions,
  session: Session,
): Promise<ExitCode> {
  const scope = scopeOf(options, session);
  const wanted = rolesOf(words);
  const systemctl = await openSystemctl(scope.kind);
  if (scope.kind === "system") requireRoot();
  const services = installedIn(scope).filter(
    ({ role }) => wanted.length === 0 || wanted.includes(role),
  );
  if (services.length > 0) await uninstallServices(services, systemctl);
  const { settings, data } = placesOf(scope);
  return answer(
    session,
    options,
    services.map(({ unitName }) => unitName),
    () =>
      services.length === 0
        ? ["No such service is installed."]
        : [
            `Removed ${services.map(({ unitName }) => unitName).join(", ")}.`,
            `Data (${data}) and settings (${settings}) are kept. Delete them yourself when they are no longer needed.`,
          ],
  );
}

export async function runStatus(options: ScopeOptions, session: Session): Promise<ExitCode> {
  const scope = scopeOf(options, session);
  const systemctl = await openSystemctl(scope.kind);
  const units = installedIn(scope).map(({ unitName }) => unitName);
  const states = await serviceStates(units, systemctl);
  answer(session, options, states, () =>
    states.length === 0
      ? ["No service is installed. To install services: grange service install"]
      : tableLines([
          ["service", "state", "pid", "restarts", "since"],
          ...states.map(({ unit, state, detail, pid, restarts, since }) => [
            unit,
            `${state} (${detail})`,
            pid === 0 ? "-" : String(pid),
            String(restarts),
            since || "-",
          ]),
        ]),
  );
  const allRun = states.length > 0 && states.every(({ state }) => state === "active");
  return allRun ? exitCodes.ok : exitCodes.failed;
}

function rolesOf(words: readonly string[]): Role[] {
  return words.map((word) => {
    const role = allRoles.find((each) => each === word);
    if (role !== undefined) return role;
    throw new UsageError(`there is no service "${word}"; the services are ${allRoles.join(", ")}`);
  });
}

function scopeOf(
  options: ScopeOptions & { readonly runAs?: string },
  { config: { configHome } }: Session,
): Scope {
  if (options.user === true && options.system === true) {
    throw new UsageError("--user and --system exclude each other");
  }
  const isSystem = options.system ?? (options.user !== true && process.getuid?.() === 0);
  if (isSystem) return { kind: "system", runAs: options.runAs ?? "grange" };
  if (options.runAs !== undefined) {
    throw new UsageError("--run-as needs --system");
  }
  const home = homedir();
  return {
    kind: "user",
    home,
    configHome: configHome ?? join(home, ".config"),
  };
}

/** Services start the built program, because starting from sources would require a developer package each time. */
function builtEntry(entry: string): string {
  if (!entry.endsWith(".ts")) return entry;
  throw new Fault(
    "failed_precondition",
    "services run the built program, but this checkout has changed since the last build. Build it: npm run build",
  );
}

function installedIn(scope: Scope): Pick<PlannedService, "role" | "unitName" | "unitFile">[] {
  const { units } = placesOf(scope);
  return allRoles
    .map((role) => ({
      role,
      unitName: unitNameOf(role),
      unitFile: join(units, unitNameOf(role)),
    }))
    .filter(({ unitFile }) => existsSync(unitFile));
}

function requireRoot(): void {
  if (process.getuid?.() === 0) return;
  throw new Fault(
    "permission_denied",
    "only root can change services of the machine. Use sudo, or install your own services with --user",
  );
}

function requireUser(name: string): void {
  try {
    execFileSync("id", ["--user", "--", name], { stdio: "ignore" });
  } catch (cause) {
    throw new Fault(
      "failed_precondition",
      `there is no user "${name}" on this machine. Create one: useradd --system --create-home --home-dir /var/lib/grange-home ${name}; or name another with --run-as`,
      { cause },
    );
  }
}

/**
 * Home directories are closed to other users; a service that cannot read its program would end at once after every
 * start.
 */
function requireReadable(files: readonly string[], runAs: string): void {
  if (runAs === userInfo().username) return;
  const inHome = files.find((file) => file.startsWith(homedir() + sep));
  if (inHome === undefined) return;
  throw new Fault(
    "failed_precondition",
    `the user "${runAs}" cannot read ${inHome}, which is in the home of ${userInfo().username}. ` +
      "Install Node and Grange for all users (npm install --global), or name a user who can with --run-as",
  );
}

/** Returns a planned service without its secrets. */
function shown(service: PlannedService): object {
  const { role, unitName, unitFile, unitText, environmentFile, environment } = service;
  const settings = withoutSecrets(environment);
  return { role, unitName, unitFile, unitText, environmentFile, environment: settings };
}

function linesOf(service: PlannedService): string[] {
  return [
    `# ${service.unitFile}`,
    service.unitText,
    `# ${service.environmentFile} (mode 600)`,
    environmentText(withoutSecrets(service.environment)),
  ];
}
