import { afterAll, beforeEach, expect, test } from "vitest";
import { everybody, type Principal } from "#access/principal.ts";
import { secretService } from "#access/secrets/secret-service.ts";
import { passingSecretsKey } from "#access/secrets/secrets-key.ts";
import { systemClock } from "#core/clock.ts";
import { protectedDomain, TrustDomain } from "#core/trust-domain.ts";
import { freshDb } from "../../test/support/fresh-db.ts";
import { checkRegistryLogin, registryLogins } from "./registry-logins.ts";

const db = await freshDb();
afterAll(() => db.close());
beforeEach(() => db.script("delete from secret"));

const secrets = secretService({
  db,
  key: passingSecretsKey(),
  clock: systemClock,
  audit: async () => {},
});
const root: Principal = { ...everybody, name: "root" };
const ofPull = TrustDomain.parse("pr/7@web");
const ofUser = TrustDomain.parse("user/bob");

const valueOf = (password: string) =>
  Buffer.from(JSON.stringify({ auths: { "ghcr.io": { username: "me", password } } })).toString(
    "base64",
  );
const set = (name: string, repository: string, password: string, users: string | null = null) =>
  secrets.set({ name, repository, branch: "*", users, value: valueOf(password) }, root);
/** Returns the password for pulls of a project, as a farm that has read nothing yet finds it. */
const passwordOf = async (project: string, domain: TrustDomain = protectedDomain) =>
  (await registryLogins(secrets, "farm").of({ project, domain }))?.credentials.get("ghcr.io")
    ?.password;

test("a project has the login whose pattern names it most exactly", async () => {
  await set("REGISTRY_LOGIN", "*", "for-all-projects");
  await set("REGISTRY_LOGIN", "web", "for-web-alone");

  expect(await passwordOf("web")).toBe("for-web-alone");
  expect(await passwordOf("other")).toBe("for-all-projects");
});

test("pull requests and users have only the login that is for them", async () => {
  await set("REGISTRY_LOGIN", "web", "for-branches", "ann");

  expect(await passwordOf("web", ofPull)).toBeUndefined();
  expect(await passwordOf("web", ofUser)).toBeUndefined();
  expect(await passwordOf("web", TrustDomain.parse("user/ann"))).toBe("for-branches");
  await set("REGISTRY_LOGIN_OF_PULL_REQUESTS", "web", "for-everybody");
  expect(await passwordOf("web", ofPull)).toBe("for-everybody");
  expect(await passwordOf("web", ofUser)).toBe("for-everybody");
  expect(await passwordOf("web")).toBe("for-branches");
});

test("the scope names the secret: not its value, and not the secret of another farm", async () => {
  const scopeOf = async (farm: string, project: string) =>
    (await registryLogins(secrets, farm).of({ project, domain: protectedDomain }))?.scope;
  await set("REGISTRY_LOGIN", "web", "first-password");
  await set("REGISTRY_LOGIN", "api", "other-password");
  const scope = await scopeOf("farm", "web");
  await set("REGISTRY_LOGIN", "web", "second-password");

  expect(await scopeOf("farm", "web")).toBe(scope);
  expect(await scopeOf("farm", "api")).not.toBe(scope);
  expect(await scopeOf("other farm", "web")).not.toBe(scope);
});

test("a changed login counts after 5 s, and at once on the server where it was changed", async () => {
  const logins = registryLogins(secrets, "farm");
  const asker = { project: "web", domain: protectedDomain };
  expect(await logins.of(asker)).toBeUndefined();
  await set("REGISTRY_LOGIN", "web", "a-password");
  expect(await logins.of(asker)).toBeUndefined();

  logins.forget();

  expect((await logins.of(asker))?.credentials.size).toBe(1);
});

test.each([
  ["for one branch", { branch: "main" }, "--branch '*'"],
  ["without JSON", { value: Buffer.from("password").toString("base64") }, "is not JSON"],
  [
    "whose passwords are in a credential store",
    { value: Buffer.from('{"auths":{"ghcr.io":{}},"credsStore":"x"}').toString("base64") },
    "no registry with a password",
  ],
])("a login %s is refused with the reason", (_, changes, why) => {
  const login = { name: "REGISTRY_LOGIN", branch: "*", value: valueOf("a-password") };

  expect(() => checkRegistryLogin({ ...login, ...changes })).toThrow(why);
  expect(() => checkRegistryLogin(login)).not.toThrow();
  expect(() => checkRegistryLogin({ ...login, ...changes, name: "OTHER" })).not.toThrow();
});
