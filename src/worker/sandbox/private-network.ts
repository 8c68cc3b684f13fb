import { execFile } from "node:child_process";
import { realpathSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { Fault, messageOf } from "#core/fault.ts";
import type { HelperShell } from "../helper-shell.ts";
import type { ViewStep } from "../image/image-provider.ts";
import { toolPath } from "../tool-path.ts";
import type { Sandbox } from "./sandbox.ts";

const run = promisify(execFile);

/** Starting slirp4netns takes 50 ms, but a busy machine is slow. */
const longestTryMs = 30_000;

/** The name server of slirp4netns, which forwards to those of the machine; see slirp4netns(1). */
const nameServer = "10.0.2.3";

/**
 * Gives each job with network access a network namespace of its own, which slirp4netns connects to the network of the
 * machine, but not to its loopback.
 */
export interface PrivateNetwork {
  /** The file with the name server, for the root file system of jobs. */
  readonly view: readonly ViewStep[];
  /** Returns a command line that runs another one in a network namespace of its own. */
  commandLine(inner: readonly string[]): string[];
}

/** Throws `Fault("failed_precondition")` when slirp4netns does not work on this machine. */
export async function openPrivateNetwork(
  shell: HelperShell,
  path: string,
  runDir: string,
): Promise<PrivateNetwork> {
  const directory = join(runDir, "network");
  await mkdir(directory, { recursive: true });
  const servers = join(directory, "resolv.conf");
  await writeFile(servers, `nameserver ${nameServer}\n`);
  const network: PrivateNetwork = {
    view: nameServerSteps(servers),
    commandLine: (inner) => ["sh", "-c", script, "sh", directory, ...inner],
  };
  await tryOut(network, shell, path);
  return network;
}

/** The same sandbox, in which jobs with network access have a network namespace of their own. */
export function withPrivateNetwork(sandbox: Sandbox, network: PrivateNetwork): Sandbox {
  return {
    ...sandbox,
    commandLine: (command) => {
      const inner = sandbox.commandLine(command);
      const isOwn = command.network && command.inNamespace !== true;
      return isOwn ? network.commandLine(inner) : inner;
    },
  };
}

/** /etc/resolv.conf is often a symlink, on which nothing can be mounted. */
function nameServerSteps(servers: string): ViewStep[] {
  try {
    return [{ kind: "show", path: realpathSync("/etc/resolv.conf"), from: servers }];
  } catch {
    return [];
  }
}

/**
 * Makes the namespace, connects it, and runs the command in it. Its exit code is that of the command.
 *
 * slirp4netns must start after the process has left the machine's network namespace, and the command after slirp4netns
 * is ready. Both wait at a FIFO: 5 announces the process id, 7 and 8 are the ends of the second one. When slirp4netns
 * fails, its end closes, and the command does not run.
 */
const script = `
d=$(mktemp -d "$1/job.XXXXXX") || exit 125; shift
mkfifo "$d/begun" "$d/ready" || exit 125
exec 5<>"$d/begun" 6<>"$d/ready" 7>"$d/ready" 8<"$d/ready" 6<&-
rm -r "$d"
{
  exec 7>&-
  unshare --net sh -c '
    echo $$ >&5
    if [ -z "$(head -c 1 <&8)" ]; then
      echo "the network of this job could not be started: slirp4netns failed" >&2; exit 125
    fi
    exec 5>&- 8<&-
    exec "$@"' sh "$@"
  code=$?; echo >&5; exit $code
} &
job=$!
read -r process <&5
network=
if [ -n "$process" ]; then
  slirp4netns --configure --mtu=65520 --disable-host-loopback --ready-fd=7 "$process" tap0 \\
    >/dev/null 2>&1 5>&- 8<&- &
  network=$!
fi
# The messages that a shell prints about signals do not belong into the job's log.
exec 5>&- 7>&- 8<&- 2>/dev/null
wait $job; code=$?
if [ -n "$network" ]; then kill $network; wait $network; fi
exit $code
`;

/** Runs a command in such a namespace, and checks its network interfaces. */
async function tryOut(network: PrivateNetwork, shell: HelperShell, path: string): Promise<void> {
  const look = ["sh", "-c", "cat /proc/net/dev"];
  const [program = "", ...args] = [...shell.enter, ...network.commandLine(look)];
  let why = "the interface tap0 is missing";
  try {
    const options = { env: { PATH: toolPath(path) }, timeout: longestTryMs, cwd: "/" };
    const { stdout } = await run(program, args, options);
    if (/^\s*tap0:/m.test(stdout)) return;
  } catch (reason) {
    why = messageOf(reason).trim().split("\n").at(-1) ?? why;
  }
  throw new Fault(
    "failed_precondition",
    `jobs cannot get a network of their own on this machine (${why}). Install slirp4netns, and let this user open ` +
      "/dev/net/tun; or start the worker without --private-network",
  );
}
