import { describe, expect, test } from "vitest";
import { textOf } from "./foreign-digest.ts";
import type { SharedFarm } from "./shared-farm.ts";

/** Connects to a port, and prints the error. */
const connect = `node -e 'require("net").connect(Number(process.argv[1]), "127.0.0.1").on("error", (e) => console.log(e.code)).on("connect", () => { console.log("connected"); process.exit(); })'`;

/** Starts a server and connects to it over loopback, like many tests of servers. */
const serveItself = `node -e 'const s = require("net").createServer((c) => c.end("served")).listen(0, "127.0.0.1", () => require("net").connect(s.address().port, "127.0.0.1").on("data", (d) => { console.log(String(d)); process.exit(); }))'`;

export function networkRules(farm: () => SharedFarm): void {
  const printed = async (script: string) => {
    const { result } = await farm().tool().run({ script });
    return textOf(result.stdoutRaw);
  };

  describe("The network", () => {
    test("an action does not reach the machine that it runs on (hermetic builds)", async () => {
      expect(await printed(`${connect} ${new URL(farm().url).port}`)).toBe("ECONNREFUSED\n");
    });

    test("an action has a loopback interface of its own (tests of servers, Bazel's block-network)", async () => {
      expect(await printed(serveItself)).toBe("served\n");
    });
  });
}
