import { expect, test } from "vitest";
import { remoteAccess } from "./remote-access.ts";

const at =
  (...addresses: string[]) =>
  async () =>
    addresses;
const noEnv = {};

test("Git uses only the checked addresses of a public host, and follows no redirects", async () => {
  const { settings } = await remoteAccess(
    "https://git.example/a.git",
    [],
    at("192.0.2.7", "10.0.0.1"),
    noEnv,
  );

  expect(settings).toEqual([
    ["http.followRedirects", "false"],
    ["http.curloptResolve", "git.example:443:192.0.2.7"],
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
  await expect(remoteAccess(address, [], at(found), noEnv)).rejects.toMatchObject({
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
  const { settings } = await remoteAccess("http://git.example:81/a", hosts, at(found), noEnv);

  expect(settings.at(-1)).toEqual(["http.curloptResolve", `git.example:81:${found}`]);
});

test("an address from which a cloud machine gets its keys is allowed only by its own full address", async () => {
  const go = (hosts: string[]) =>
    remoteAccess("http://git.example/a", hosts, at("169.254.169.254"), noEnv);

  await expect(go(["*", "git.example", "169.*"])).rejects.toMatchObject({
    code: "permission_denied",
  });
  expect((await go(["169.254.169.254"])).settings).toHaveLength(2);
});

test("a path, and an unknown name, need no settings", async () => {
  const nobody = async () => {
    throw Object.assign(new Error("getaddrinfo ENOTFOUND git.example"), { code: "ENOTFOUND" });
  };

  expect(await remoteAccess("/srv/a.git", [], nobody, noEnv)).toMatchObject({ settings: [] });
  expect(await remoteAccess("git@alias:a", [], nobody, noEnv)).toMatchObject({ settings: [] });
});

test("the password is removed from the address, and Git gets it from its environment through a credential helper", async () => {
  const access = await remoteAccess(
    "https://me:p%40ss@git.example/a",
    ["*"],
    at("192.0.2.7"),
    noEnv,
  );

  expect(access.url).toBe("https://git.example/a");
  expect(access.environment).toEqual({ GRANGE_GIT_USERNAME: "me", GRANGE_GIT_PASSWORD: "p@ss" });
  expect(JSON.stringify(access.settings)).not.toContain("p@ss");
});
