import { connect, createServer } from "node:net";
import { networkInterfaces } from "node:os";
import { expect, test } from "vitest";
import { skipWithout } from "../support/needs/needs.ts";
import { hostileBuilds } from "./hostile-builds.ts";

// SLSA 1.2, Build L3, "Isolated": a build opens no service by which others could influence it, unless that is an
// external parameter of the build.

const builds = hostileBuilds({ workers: 1 });
const port = 20_000 + (process.pid % 20_000);
const node = (program: string) => `node -e '${program}'`;

test("no process outside can connect to a build, and the reverse, unless its definition allows it", async (context) => {
  const { farm, begin, ended, build, sandboxNeed } = builds.current;
  skipWithout(context, sandboxNeed);
  const reached: string[] = [];
  const server = createServer((socket) => void reached.push(socket.remoteAddress ?? ""));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const ours = (server.address() as { port: number }).port;
  try {
    const listening = await begin({
      listens: {
        commands: [
          node(
            `require("net").createServer((s)=>s.on("data",(d)=>console.log("INFLUENCED "+d))).listen(${port},"0.0.0.0",()=>console.log("listens now"));setTimeout(()=>process.exit(0),4000)`,
          ),
        ],
        inputs: [],
      },
    });
    await farm.untilLogged(listening, "listens", "listens now");
    const spoken = await Promise.all(
      ["127.0.0.1", ...addressesHere()].map((host) => speak(host, port)),
    );
    const listened = await ended(listening);

    const calls = await build({
      calls: {
        commands: [
          `for a in 127.0.0.1 ${addressesHere().join(" ")}; do (exec 3<>/dev/tcp/$a/${ours}) 2>/dev/null && echo "REACHED $a" || :; done`,
          'for a in 169.254.169.254/80 1.1.1.1/53 8.8.8.8/443; do timeout 2 bash -c "exec 3<>/dev/tcp/$a" 2>/dev/null && echo "REACHED $a" || :; done',
          node(
            `const n=require("net");for(const p of ["\\0/tmp/.X11-unix/X0","\\0grange","/run/dbus/system_bus_socket","/run/docker.sock","/var/run/docker.sock"]){n.connect(p).on("connect",()=>console.log("REACHED "+p)).on("error",()=>{})}`,
          ),
          "echo called all",
        ].map((command) =>
          command.startsWith("for") ? `bash -c '${command.replaceAll("'", "'\\''")}'` : command,
        ),
        inputs: [],
      },
    });

    expect(spoken.every((answered) => !answered)).toBe(true);
    expect(await listened.printed("listens")).not.toContain("INFLUENCED");
    expect(await calls.printed("calls")).toContain("called all");
    expect(await calls.printed("calls")).not.toContain("REACHED");
    expect(reached).toEqual([]);
  } finally {
    server.close();
  }
});

function addressesHere(): string[] {
  return Object.values(networkInterfaces())
    .flatMap((each) => each ?? [])
    .filter(({ family, internal }) => family === "IPv4" && !internal)
    .map(({ address }) => address);
}

/** Returns whether a server accepted the text. */
function speak(host: string, at: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port: at }, () => socket.end("hear me\n"));
    socket.once("error", () => resolve(false)).once("close", (failed) => resolve(!failed));
    socket.setTimeout(1_000, () => socket.destroy(new Error("nobody")));
  });
}
