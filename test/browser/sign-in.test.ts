import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pino from "pino";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { CreatedToken } from "#api/access.ts";
import { SignInLink } from "#api/session.ts";
import { readServerConfig } from "../../src/server/config.ts";
import { startServer } from "../../src/server/start-server.ts";
import { postTo } from "../support/ask-server.ts";
import { freshDatabase } from "../support/fresh-db.ts";
import { startTestProvider } from "../support/identity-provider.ts";
import { pagesInBrowser } from "./farm-in-browser.ts";

const databaseUrl = await freshDatabase();
const dataDir = await mkdtemp(join(tmpdir(), "grange-signing-in-"));
const provider = await startTestProvider();
provider.accounts.set("alice", { email: "alice@farm.example", email_verified: true });
afterAll(async () => {
  await provider.stop();
  await rm(dataDir, { recursive: true, force: true });
});

const { open, server } = await pagesInBrowser(async (webDir) => {
  const clientSecretFile = join(dataDir, "client-secret");
  await writeFile(clientSecretFile, provider.clientSecret);
  const { issuer, clientId } = provider;
  const oidc = { issuer, clientId, clientSecretFile, name: "Farm Accounts" };
  const running = await startServer(
    readServerConfig({ dataDir, databaseUrl, port: 0, webDir, oidc }, {}),
    pino({ level: "silent" }),
  );
  const url = running.url.replace(/\/$/, "");
  return { url, stop: () => running.stop() };
});

let root: string;

beforeAll(async () => {
  await provider.register(`${server.url}/auth/callback`);
  root = CreatedToken.parse(await post("/tokens", { principal: "root" })).token;
  await post("/grants", { principal: "root", verb: "*", top: true });
  await post("/grants", { principal: "root", verb: "submit", pool: "ci-*", costCap: 90 });
  await post("/grants", { principal: "alice@farm.example", verb: "define" });
  await post("/grants/remove", { principal: "anyone", verb: "*" }, root);
});

const post = (path: string, body: unknown, token?: string) =>
  postTo<unknown>(server, path, body, token);

/** Saves a screenshot if GRANGE_TEST_SCREENSHOTS names a directory. */
async function look(page: Page, name: string): Promise<void> {
  const folder = process.env["GRANGE_TEST_SCREENSHOTS"];
  if (folder !== undefined) await page.screenshot({ path: join(folder, `${name}.png`) });
}

test("a user signs in with a pasted token, changes something, and signs out", async () => {
  const { page, faults } = await open("/workers");
  await page.getByRole("link", { name: "Sign in" }).click();
  await page.getByRole("textbox", { name: "Token" }).fill("grange_wrong");
  await look(page, "sign-in");
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
  await page.getByRole("alert").getByText("this is not a token").waitFor();
  await look(page, "sign-in-refused");
  faults.length = 0;

  await page.getByRole("textbox", { name: "Token" }).fill(`  ${root} `);
  await page.getByRole("button", { name: "Sign in", exact: true }).click();

  // The same page as before, now signed in.
  await page.waitForURL(`${server.url}/workers`);
  await page.getByRole("link", { name: "root" }).click();
  await page.getByRole("heading", { level: 1, name: "root" }).waitFor();
  await page.getByRole("cell", { name: "everything" }).waitFor();
  // A kind of limit has a column if some grant has it.
  await page.getByRole("columnheader", { name: "pools" }).waitFor();
  await page.getByRole("cell", { name: "ci-*" }).waitFor();
  await page.getByRole("cell", { name: "90 min" }).waitFor();
  await expect
    .poll(() => page.getByRole("columnheader", { name: "highest size class" }).count())
    .toBe(0);
  await look(page, "signed-in");
  expect(await page.evaluate("document.cookie")).toBe("");
  expect(
    await page.evaluate("JSON.stringify(localStorage) + JSON.stringify(sessionStorage)"),
  ).not.toContain("grange_");

  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByRole("heading", { level: 1, name: "Sign in" }).waitFor();
  expect(faults).toEqual([]);
  await page.context().close();
});

test("on a closed farm, pages act in the name of the signed-in user", async () => {
  const { page, faults } = await open("/");
  await signInByLink(page);

  const answer = await page.evaluate(async () => {
    const { csrf } = (await (await fetch("/api/v1/session")).json()) as { csrf: string };
    const send = (headers: Record<string, string>) =>
      fetch("/api/v1/drains", {
        method: "POST",
        headers: { "content-type": "application/json", ...headers },
        body: JSON.stringify({ pattern: "old-*", reason: "they go" }),
      }).then((response) => response.status);
    return [await send({}), await send({ "x-grange-csrf": csrf })];
  });

  expect(answer).toEqual([403, 200]);
  const refused = faults.filter((fault) => !fault.includes("403"));
  expect(refused).toEqual([]);
  await page.context().close();
});

test("a link signs in once, and the URL then contains no secret", async () => {
  const link = SignInLink.parse(await post("/session/links", {}, root));
  const { page } = await open("/connect");
  await page.goto(link.url);
  await page.getByRole("link", { name: "root" }).waitFor();
  const address = page.url();
  await page.context().close();

  const second = await open(new URL(link.url).pathname + new URL(link.url).hash);
  await second.page.getByRole("alert").getByText("was used before").waitFor();

  expect(address).not.toContain("code=");
  await expect.poll(() => second.page.url()).not.toContain("code=");
  await second.page.context().close();
});

test("a link does not change the signed-in user without a confirmation", async () => {
  const { page } = await open("/");
  await signInByLink(page);
  const mallory = CreatedToken.parse(await post("/tokens", { principal: "mallory" }, root)).token;
  const link = SignInLink.parse(await post("/session/links", {}, mallory));

  await page.goto(link.url);

  await page.getByText("Continue only if you requested it").waitFor();
  await expect.poll(() => page.getByRole("heading", { level: 1 }).textContent()).toBe("root");
  await page.context().close();
});

test("a user signs in at the identity provider, and returns to the same page", async () => {
  const { page, faults } = await open("/workers");
  await page.getByRole("link", { name: "Sign in" }).click();
  await page.getByRole("button", { name: "Sign in with Farm Accounts" }).click();
  await page.getByPlaceholder("Enter any login").fill("alice");
  await page.getByPlaceholder("and password").fill("none");
  faults.length = 0;
  await page.getByRole("button", { name: "Sign-in" }).click();
  await page.getByRole("button", { name: "Continue" }).click();

  await page.waitForURL(`${server.url}/workers`);
  await page.getByRole("link", { name: "alice@farm.example" }).click();
  await page.getByRole("cell", { name: "define" }).waitFor();
  await expect
    .poll(() => page.getByRole("heading", { level: 1 }).textContent())
    .toBe("alice@farm.example");
  await look(page, "signed-in-by-provider");
  await page.context().close();
});

test("a user who cancels at the provider gets a message, and can start again", async () => {
  const { page } = await open("/sign-in");
  await page.getByRole("button", { name: "Sign in with Farm Accounts" }).click();
  await page.getByRole("link", { name: "Cancel" }).click();

  await page.getByRole("alert").getByText("refused the sign-in: access_denied").waitFor();
  await look(page, "given-up");
  const again = page.getByRole("button", { name: "Sign in with Farm Accounts" });
  await expect.poll(() => again.isEnabled()).toBe(true);
  await page.context().close();
});

async function signInByLink(page: Page): Promise<void> {
  const link = SignInLink.parse(await post("/session/links", {}, root));
  await page.goto(link.url);
  await page.getByRole("link", { name: "root" }).waitFor();
}
