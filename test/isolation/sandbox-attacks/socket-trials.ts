import type { ScriptTrial } from "./trial.ts";

const succeeds = (script: string): ScriptTrial => ({ script, withoutSandbox: "succeeds" });
const untried = (script: string): ScriptTrial => ({ script, withoutSandbox: "untried" });
const withNetwork = (trial: ScriptTrial): ScriptTrial => ({ ...trial, network: true });

const connects = (target: string) =>
  `node -e 'require("net").connect(${target}).on("connect", () => process.exit(0)).on("error", () => process.exit(1))'`;
const tcp = (host: string, port: string) =>
  connects(`{ host: "${host}", port: Number(process.env.${port}) }`);
const abstractSocket = connects('"\\0" + process.env.A_ABSTRACT');

export const socketTrials = {
  "connects to the farm's port on 127.0.0.1": succeeds(tcp("127.0.0.1", "A_PORT")),
  "connects to a port on ::1": succeeds(tcp("::1", "A_PORT_6")),
  "connects to a port of a job that runs at the same time": succeeds(
    tcp("127.0.0.1", "A_PORT_OF_JOB"),
  ),
  "connects to the metadata address of clouds": untried(
    `timeout 1 ${connects('{ host: "169.254.169.254", port: 80 }')}`,
  ),
  "opens a raw socket": succeeds(
    "perl -e 'use Socket; exit(socket(my $s, AF_INET, SOCK_RAW, 1) ? 0 : 1)'",
  ),
  "connects to a Unix socket of the machine": succeeds(connects("process.env.A_SOCKET")),
  "connects to an abstract socket of the machine": succeeds(abstractSocket),
  "sees System V shared memory of the machine": succeeds(
    `ipcs -m | awk '{ print $2 }' | grep -qx "$A_SYSV_MEMORY"`,
  ),
  "sees a System V message queue of the machine": succeeds(
    `ipcs -q | awk '{ print $2 }' | grep -qx "$A_SYSV_QUEUE"`,
  ),
  "sees a System V semaphore of the machine": succeeds(
    `ipcs -s | awk '{ print $2 }' | grep -qx "$A_SYSV_SEMAPHORE"`,
  ),
  "changes the machine's network (network: true)": withNetwork(
    succeeds("ip link set lo mtu $(cat /sys/class/net/lo/mtu)"),
  ),
  "connects to an abstract socket of the machine (network: true)": withNetwork(
    succeeds(abstractSocket),
  ),
  "connects to services on the machine's loopback (network: true)": withNetwork(
    succeeds(tcp("127.0.0.1", "A_PORT")),
  ),
} satisfies Record<string, ScriptTrial>;
