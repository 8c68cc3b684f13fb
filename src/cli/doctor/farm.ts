import { messageOf } from "#core/fault.ts";
import type { ApiClient } from "../api/api-client.ts";
import { ServerUnreachable } from "../api/api-failure.ts";
import { isFree, portHolder } from "../up/port-holder.ts";
import { type Check, type Finding, fail, ok, warn } from "./check.ts";
import { findingOfBackup } from "./last-backup.ts";

/** Checks the server that commands would call, and the port on which one could start. */
export function farmChecks(api: ApiClient, version: string): Check[] {
  return [
    {
      name: "server",
      needs: "The farm's server answers, and has the version of this program",
      fix: "Start one with `grange up`, or set GRANGE_SERVER to another address",
      run: () => server(api, version),
    },
    {
      name: "access",
      needs: "A farm on another machine is not open to everybody",
      fix: "Restrict it: `grange access set private`, or `public`",
      run: () => access(api),
    },
    {
      name: "port",
      needs: "The farm's port on this machine is free, or used by the farm",
      fix: "Stop the program that uses it, or use another port: grange up --port N",
      run: () => port(api),
    },
    {
      name: "workers",
      needs: "The farm has a connected worker",
      fix: "Start one: grange worker",
      run: () => workers(api),
    },
    {
      name: "last backup",
      needs: "The last backup is younger than 48 hours, and complete",
      fix: "Run `grange backup DIRECTORY`, for example every night (docs/backup.md)",
      run: () => lastBackup(api),
    },
  ];
}

async function server(api: ApiClient, version: string): Promise<Finding> {
  try {
    const info = await api.server();
    return info.version === version
      ? ok(`${api.serverUrl}: version ${info.version}, ${info.database}`)
      : warn(
          `${api.serverUrl} is version ${info.version}, this is ${version}`,
          "Use the same version on both sides",
        );
  } catch (reason) {
    if (!(reason instanceof ServerUnreachable)) {
      return fail(
        messageOf(reason),
        "Check that this is a Grange server, or set GRANGE_SERVER to another address",
      );
    }
    return warn(messageOf(reason));
  }
}

/** Says what callers without a token may do. A farm that others reach should not let them do everything. */
async function access(api: ApiClient): Promise<Finding> {
  try {
    const { access } = await api.server();
    const isHere = ["127.0.0.1", "localhost", "[::1]"].includes(new URL(api.serverUrl).hostname);
    return access === "open" && !isHere
      ? warn("open: anyone who can reach the farm may do everything")
      : ok(access);
  } catch (reason) {
    return ok(
      reason instanceof ServerUnreachable
        ? "not checked: there is no server"
        : `not known: ${messageOf(reason)}`,
    );
  }
}

async function port(api: ApiClient): Promise<Finding> {
  const { hostname, port: text, protocol } = new URL(api.serverUrl);
  const number = Number(text) || (protocol === "https:" ? 443 : 80);
  if (!["127.0.0.1", "localhost", "[::1]"].includes(hostname))
    return ok("the farm is on another machine");
  if (await isFree(number, "127.0.0.1")) return ok(`${number} is free`);
  const isOurs = await api.server().then(
    () => true,
    () => false,
  );
  if (isOurs) return ok(`${number} is used by the farm`);
  const holder = portHolder(number);
  return warn(
    `${number} is in use${holder === undefined ? "" : ` by process ${holder.pid} (${holder.command})`}`,
    `Stop this process, or use another port: grange up --port ${number + 1}`,
  );
}

async function lastBackup(api: ApiClient): Promise<Finding> {
  try {
    const { serverEndpoints } = await import("#api/endpoints/server-endpoints.ts");
    const [last] = await api.call(serverEndpoints.backups, {});
    return findingOfBackup(last, new Date());
  } catch (reason) {
    return ok(
      reason instanceof ServerUnreachable
        ? "not checked: there is no server"
        : `not known: ${messageOf(reason)}`,
    );
  }
}

async function workers(api: ApiClient): Promise<Finding> {
  try {
    const { workerEndpoints } = await import("#api/endpoints/worker-endpoints.ts");
    const all = await api.call(workerEndpoints.workers, {});
    const here = all.filter((worker) => worker.state !== "lost");
    const lost = all.length - here.length;
    const detail = `${here.length} connected${lost === 0 ? "" : `, ${lost} lost`}`;
    return here.length > 0 ? ok(detail) : warn(detail);
  } catch {
    return ok("not checked: there is no server");
  }
}
