import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";

/** How to wrap a command so that PostgreSQL accepts its user. */
export interface RunAs {
  /** For `grange doctor`. */
  readonly description: string;
  /** Turns a command line into the one to spawn. */
  wrap(command: readonly string[]): string[];
  /** The required owner of the data directory, if not the current user. */
  readonly owner?: { readonly uid: number; readonly gid: number };
}

/** The uid of `nobody` on every Linux; `initdb` requires a name for its user, and this user has one. */
const nobody = 65_534;

/**
 * Returns how to run PostgreSQL here.
 *
 * PostgreSQL refuses to run as root. A user namespace in which root is called `nobody` satisfies it, needs no second
 * user, and keeps files readable that only root can read. Where such namespaces are forbidden, it runs as the real
 * `nobody`.
 *
 * `--pdeathsig INT` lets PostgreSQL shut down cleanly when this process is killed.
 */
export function chooseRunAs(): RunAs {
  const deathSignal = existsSync("/usr/bin/setpriv")
    ? ["/usr/bin/setpriv", "--pdeathsig", "INT"]
    : [];
  if (process.getuid?.() !== 0) {
    return { description: "this user", wrap: (command) => [...deathSignal, ...command] };
  }
  const namespace = ["unshare", "--user", `--map-user=${nobody}`, `--map-group=${nobody}`];
  if (spawnSync("unshare", [...namespace.slice(1), "true"], { stdio: "ignore" }).status === 0) {
    return {
      description: "root, called nobody in a user namespace",
      wrap: (command) => [...namespace, ...deathSignal, ...command],
    };
  }
  return {
    description: "the user nobody",
    wrap: (command) => [
      "setpriv",
      `--reuid=${nobody}`,
      `--regid=${nobody}`,
      "--clear-groups",
      "--pdeathsig",
      "INT",
      ...command,
    ],
    owner: { uid: nobody, gid: nobody },
  };
}
