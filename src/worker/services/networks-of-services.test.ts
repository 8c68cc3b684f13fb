import { expect, test } from "vitest";
import { hostsText, ownNetworks } from "./networks-of-services.ts";

const service = (name: string, exposed: number[], port?: number) => ({
  name,
  exposed,
  ...(port === undefined ? {} : { ready: { port } }),
});

test("services share the network of the job, except those with a port that an earlier one has", () => {
  const own = ownNetworks([
    service("old", [5432]),
    service("web", [80, 443]),
    service("new", [5432]),
    service("quiet", []),
    service("proxy", [443]),
  ]);

  expect([...own]).toEqual([
    ["new", { address: "198.18.1.2", jobAddress: "198.18.1.1" }],
    ["proxy", { address: "198.18.2.2", jobAddress: "198.18.2.1" }],
  ]);
});

test("of a service that is ready on another port, the ports of its image do not count", () => {
  expect(ownNetworks([service("a", [5432]), service("b", [5432], 5433)]).size).toBe(0);
  expect(ownNetworks([service("a", [80]), service("b", [], 80)]).size).toBe(1);
  expect(ownNetworks([service("a", [80]), service("b", [80, 81], 81)]).size).toBe(1);
});

test("each finds itself at its loopback, and the others where they are", () => {
  const names = ["old", "web", "new", "proxy"];
  const own = ownNetworks([
    service("old", [5432]),
    service("web", [80]),
    service("new", [5432]),
    service("proxy", [80]),
  ]);

  expect(hostsText(names, own)).toBe(
    "127.0.0.1 localhost grange old web\n::1 localhost\n198.18.1.2 new\n198.18.2.2 proxy\n",
  );
  expect(hostsText(names, own, "new")).toBe(
    "127.0.0.1 localhost grange new\n::1 localhost\n198.18.1.1 old web\n198.18.2.2 proxy\n",
  );
});
