import { once } from "node:events";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { rest } from "#core/resting.ts";
import { CsexpParser } from "./csexp.ts";
import { type DuneClient, startDaemonProxy } from "./daemon-proxy.ts";
import { readMessage } from "./dune-protocol.ts";

describe("the daemon proxy", () => {
  let directory: string;
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), "grange-daemon proxy-"));
    return () => rm(directory, { recursive: true, force: true });
  });

  /** Returns its greeting, and the time until it in ms. */
  async function greeted(port: number, said: string): Promise<{ lang: unknown; ms: number }> {
    const startedAt = performance.now();
    const socket = connect(port, "127.0.0.1");
    socket.write(said);
    const parser = new CsexpParser();
    try {
      for (;;) {
        const [bytes] = (await once(socket, "data")) as [Buffer];
        const [lang] = parser.push(bytes);
        if (lang !== undefined)
          return { lang: readMessage(lang), ms: performance.now() - startedAt };
      }
    } finally {
      socket.destroy();
    }
  }

  test.each([
    ["1.2", "(4:lang19:dune-cache-protocol(1:11:2))", [{ major: 1, minor: 2 }]],
    ["1.3", "(4:lang19:dune-cache-protocol(1:11:3))", [{ major: 1, minor: 2 }]],
    ["nothing that we know", "(4:lang19:dune-cache-protocol(1:21:0))", [{ major: 2, minor: 0 }]],
    ["nothing at all", "", [{ major: 1, minor: 2 }]],
    ["rubbish", "GET / HTTP/1.1\r\n\r\n", [{ major: 1, minor: 2 }]],
  ])("greets one that speaks %s, even when its granary is silent", async (_, said, versions) => {
    const proxy = await startDaemonProxy({ directory, onClient: () => {} });
    try {
      const port = await proxy.hold("b", join(directory, "port"), 40);

      const { lang, ms } = await greeted(port, said);

      expect(lang).toEqual({ kind: "lang", versions });
      // The gate time is forty of these; this machine causes the rest.
      expect(ms).toBeLessThan(10_000);
    } finally {
      await proxy.stop();
    }
  });

  test("closes as soon as dune has sent everything, while its granary still reads", async () => {
    const heard: Buffer[] = [];
    const all = later<string>();
    const proxy = await startDaemonProxy({
      directory,
      onClient(client) {
        client.greet();
        void (async () => {
          for await (const bytes of client.bytes) heard.push(Buffer.from(bytes));
          all.resolve(Buffer.concat(heard).toString());
        })();
      },
    });
    try {
      const port = await proxy.hold("b", join(directory, "port"), 1_000);
      const socket = connect(port, "127.0.0.1");
      socket.resume();
      const said = `(4:lang19:dune-cache-protocol(1:11:2))${"(4:hint)".repeat(10_000)}`;
      socket.end(said);
      await once(socket, "close");

      expect((await all.promise).length).toBe(said.length);
    } finally {
      await proxy.stop();
    }
  });

  test("delays dune as long as its granary requests, regardless of the gate", async () => {
    const came = later<DuneClient>();
    const proxy = await startDaemonProxy({ directory, onClient: came.resolve });
    const said = "(4:lang19:dune-cache-protocol(1:11:2))";
    try {
      const port = await proxy.hold("b", join(directory, "port"), 500);
      let isGreeted = false;
      const greeting = greeted(port, said).finally(() => (isGreeted = true));
      const client = await came.promise;
      client.hold(9_000);
      await rest(700);
      const wasGreeted = isGreeted;
      client.greet();

      await greeting;
      expect(wasGreeted).toBe(false);
    } finally {
      await proxy.stop();
    }
  });

  test("lets dune start when its granary stops answering after a wait request", async () => {
    const proxy = await startDaemonProxy({ directory, onClient: (client) => client.hold(50) });
    try {
      const port = await proxy.hold("b", join(directory, "port"), 10_000);

      const { ms } = await greeted(port, "(4:lang19:dune-cache-protocol(1:11:2))");

      expect(ms).toBeLessThan(10_000);
    } finally {
      await proxy.stop();
    }
  });

  test("reports an endpoint file that cannot be written as a fault", async () => {
    const proxy = await startDaemonProxy({ directory, onClient: () => {} });
    try {
      await mkdir(join(directory, "port.new"));

      await expect(proxy.hold("b", join(directory, "port"), 0)).rejects.toMatchObject({
        code: "unavailable",
      });
    } finally {
      await proxy.stop();
    }
  });
});

function later<T>() {
  let resolve: (value: T) => void = () => {};
  const promise = new Promise<T>((done) => (resolve = done));
  return { promise, resolve };
}
