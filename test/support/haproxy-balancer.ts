import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { freePort } from "./free-port.ts";
import { findProgram, programs } from "./needs/program.ts";
import { startProgram } from "./process.ts";
import type { TcpBalancer } from "./tcp-balancer.ts";

export const haproxyNeed = programs("HAProxy", { programs: ["haproxy"], packages: ["haproxy"] });

/**
 * HAProxy 2.6 or later, for connections, round robin, with a check of `/readyz` each 200 ms. While no server is ready,
 * because the database fails over, all that live get the connections: a refused connection would use up the retries of
 * clients, and these servers wait for the database.
 *
 * A check has 2 s for its answer and not only the 200 ms of its period: a busy machine would lose all servers at once.
 *
 * @param address on which it listens; `url` names the loopback address
 */
export async function haproxyBalancer(address = "127.0.0.1"): Promise<TcpBalancer> {
  const directory = await mkdtemp(join(tmpdir(), "grange-haproxy-"));
  const [config, control] = [join(directory, "haproxy.cfg"), join(directory, "control")];
  const port = await freePort();
  await writeFile(
    config,
    `global
  stats socket ${control} level admin
defaults
  mode tcp
  timeout connect 2s
  timeout check 2s
  timeout client 1h
  timeout server 1h
  retries 3
  option redispatch
frontend farm
  bind ${address}:${port}
  use_backend living if { nbsrv(servers) eq 0 }
  default_backend servers
backend servers
  balance roundrobin
  option httpchk GET /readyz
backend living
  balance roundrobin
  option httpchk GET /healthz
`,
  );
  const program = startProgram(findProgram("haproxy") ?? "haproxy", ["-f", config, "-db"]);
  let added = 0;
  const names = new Map<string, string>();
  // The commands of one server are sent in order.
  let sending: Promise<unknown> = untilListening(control);
  const send = (command: string) => {
    sending = sending.then(() => sendCommand(control, command));
  };
  await sending;
  return {
    url: `http://127.0.0.1:${port}`,
    add(url) {
      const name = `s${++added}`;
      names.set(url, name);
      for (const backend of backends) {
        const server = `${backend}/${name}`;
        send(`add server ${server} ${new URL(url).host} check inter 200ms fall 1 rise 1`);
        send(`enable health ${server}`);
        send(`enable server ${server}`);
      }
    },
    remove(url) {
      for (const backend of backends) send(`set server ${backend}/${names.get(url)} state maint`);
    },
    async close() {
      await sending;
      program.signal("SIGTERM");
      await program.finished;
      await rm(directory, { recursive: true, force: true });
    },
  };
}

const backends = ["servers", "living"] as const;

async function untilListening(control: string): Promise<void> {
  for (let tries = 0; tries < 500; tries++) {
    const isThere = await sendCommand(control, "show version").then(
      () => true,
      () => false,
    );
    if (isThere) return;
    await delay(20);
  }
  throw new Error("HAProxy does not answer");
}

async function sendCommand(control: string, command: string): Promise<void> {
  const socket = connect(control);
  await once(socket, "connect");
  socket.end(`${command}\n`);
  socket.resume();
  await once(socket, "close");
}
