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
 * HAProxy 2.6 or later, for connections, round robin, with a check of `/readyz` each 200 ms.
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
  timeout client 1h
  timeout server 1h
  retries 3
  option redispatch
frontend farm
  bind ${address}:${port}
  default_backend servers
backend servers
  balance roundrobin
  option httpchk GET /readyz
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
      const name = `servers/s${++added}`;
      names.set(url, name);
      send(`add server ${name} ${new URL(url).host} check inter 200ms fall 1 rise 1`);
      send(`enable health ${name}`);
      send(`enable server ${name}`);
    },
    remove: (url) => send(`set server ${names.get(url)} state maint`),
    async close() {
      await sending;
      program.signal("SIGTERM");
      await program.finished;
      await rm(directory, { recursive: true, force: true });
    },
  };
}

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
