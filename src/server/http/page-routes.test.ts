import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { brotliDecompressSync } from "node:zlib";
import { afterAll, expect, test } from "vitest";
import type { SessionStanding } from "#api/session.ts";
import { pageRoutes } from "./page-routes.ts";

const dir = await mkdtemp(join(tmpdir(), "grange-web-"));
afterAll(() => rm(dir, { recursive: true, force: true }));
await mkdir(join(dir, "web", "assets"), { recursive: true });
await writeFile(join(dir, "secret.txt"), "secret");
const document = "<html><head></head><body><p>the page</p></body></html>";
await writeFile(join(dir, "web", "index.html"), document);
await writeFile(join(dir, "web", "assets", "code-1.js"), "let code;");
const pages = pageRoutes(join(dir, "web"));

test.each(["/", "/graphs/abc", "/graphs/abc/jobs/a.b"])(
  "%s is answered with the page",
  async (path) => {
    expect(await (await pages.request(path)).text()).toBe(document);
  },
);

const stranger: SessionStanding = {
  session: null,
  over: null,
  problem: null,
  csrf: null,
  provider: null,
  isOpen: true,
  access: "open",
};

test("the page has the session of the browser in it, and nobody else may keep it", async () => {
  const found = pageRoutes(join(dir, "web"), async (cookie) => ({
    standing: { ...stranger, problem: cookie ?? null },
    cookies: ["note=; Max-Age=0"],
  }));

  const page = await found.request("/graphs/abc", { headers: { cookie: "note=refused" } });

  expect(await page.text()).toContain('"problem":"note=refused"');
  expect(page.headers.get("cache-control")).toBe("no-store");
  expect(page.headers.get("cross-origin-resource-policy")).toBe("same-origin");
  expect(page.headers.get("set-cookie")).toBe("note=; Max-Age=0");
});

test("the page comes without a session when the session cannot be read", async () => {
  const failing = pageRoutes(join(dir, "web"), () => Promise.reject(new Error("no database")));

  const page = await failing.request("/");

  expect(page.status).toBe(200);
  expect(await page.text()).toBe(document);
});

test("assets are kept by browsers, and come compressed to those who can read it", async () => {
  const plain = await pages.request("/assets/code-1.js");
  const zipped = await pages.request("/assets/code-1.js", {
    headers: { "accept-encoding": "gzip" },
  });

  expect(await plain.text()).toBe("let code;");
  expect(plain.headers.get("cache-control")).toContain("immutable");
  expect(zipped.headers.get("content-encoding")).toBe("gzip");
});

test("a browser that reads Brotli gets assets in it a moment after the first request", async () => {
  const ask = () =>
    pages.request("/assets/code-1.js", { headers: { "accept-encoding": "gzip, deflate, br" } });
  await expect
    .poll(async () => (await ask()).headers.get("content-encoding"), { interval: 10 })
    .toBe("br");

  const bytes = Buffer.from(await (await ask()).arrayBuffer());

  expect(brotliDecompressSync(bytes).toString()).toBe("let code;");
});

test.each(["/../secret.txt", "/assets/../../secret.txt", "/%2e%2e/secret.txt", "/..%2fsecret.txt"])(
  "%s does not leave the folder",
  async (path) => {
    expect(await (await pages.request(path)).text()).not.toContain("secret");
  },
);

test("an asset that is gone is not answered with a page", async () => {
  expect((await pages.request("/assets/old-2.js")).status).toBe(404);
});

test("documents are pages of their own, and an unknown one is missing", async () => {
  await mkdir(join(dir, "web", "docs"), { recursive: true });
  await writeFile(join(dir, "web", "docs", "index.html"), "<p>documents</p>");

  const entry = await pages.request("/docs");
  const page = await pages.request("/docs/index.html");

  expect(entry.headers.get("location")).toBe("/docs/index.html");
  expect(await page.text()).toBe("<p>documents</p>");
  expect((await pages.request("/docs/other.html")).status).toBe(404);
});
