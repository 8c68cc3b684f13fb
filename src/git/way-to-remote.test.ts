import { expect, test } from "vitest";
import { wayToRemote } from "./way-to-remote.ts";

const at =
  (...addresses: string[]) =>
  async () =>
    addresses;
const noEnv = {};

test("a host on the internet is held to the addresses that were looked at, without redirects", async () => {
  const way = await wayToRemote(
    "https://git.example/a.git",
    [],
    at("192.0.2.7", "10.0.0.1"),
    noEnv,
  );

  expect(way).toEqual([
    "-c",
    "http.followRedirects=false",
    "-c",
    "http.curloptResolve=git.example:443:192.0.2.7",
  ]);
});

test.each([
  ["http://git.example/a", "10.1.2.3"],
  ["http://git.example/a", "::ffff:127.0.0.1"],
  ["http://git.example/a", "::7f00:1"],
  ["http://git.example/a", "2002:7f00:1::"],
  ["http://git.example/a", "64:ff9b:1::a00:1"],
  ["ssh://git.example/a", "127.0.0.1"],
  ["git@git.example:a", "192.168.0.1"],
  ["git://git.example/a", "fc00::1"],
])("%s at %s is refused, with what would let it", async (address, found) => {
  await expect(wayToRemote(address, [], at(found), noEnv)).rejects.toMatchObject({
    code: "permission_denied",
    message: expect.stringContaining("GRANGE_PRIVATE_HOSTS=git.example"),
  });
});

test.each([
  [["git.example"], "10.1.2.3"],
  [["*.example"], "10.1.2.3"],
  [["10.1.*"], "10.1.2.3"],
  [["*"], "127.0.0.1"],
])("with %j a host at %s is gone to", async (hosts, found) => {
  const way = await wayToRemote("http://git.example:81/a", hosts, at(found), noEnv);

  expect(way.at(-1)).toBe(`http.curloptResolve=git.example:81:${found}`);
});

test("where a cloud tells a machine its keys is gone to by its own address alone", async () => {
  const go = (hosts: string[]) =>
    wayToRemote("http://git.example/a", hosts, at("169.254.169.254"), noEnv);

  await expect(go(["*", "git.example", "169.*"])).rejects.toMatchObject({
    code: "permission_denied",
  });
  expect(await go(["169.254.169.254"])).toHaveLength(4);
});

test("a path, and a name that nobody knows, need no way", async () => {
  const nobody = async () => {
    throw Object.assign(new Error("getaddrinfo ENOTFOUND git.example"), { code: "ENOTFOUND" });
  };

  expect(await wayToRemote("/srv/a.git", [], nobody, noEnv)).toEqual([]);
  expect(await wayToRemote("git@alias:a", [], nobody, noEnv)).toEqual([]);
});
