import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type TestCertificate, testCertificate } from "../../../test/support/test-certificate.ts";
import { fetchTrusting } from "./fetch-trusting.ts";

let directory: string;
let certificate: TestCertificate;
let server: Server;
let url: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "grange-fetch-"));
  certificate = await testCertificate(directory);
  const key = await readFile(certificate.key, "utf8");
  server = createServer({ cert: certificate.pem, key }, (request, response) => {
    if (request.url === "/nothing") response.writeHead(204).end();
    else if (request.url === "/broken") {
      response.write("the beg");
      setImmediate(() => response.destroy());
    } else request.pipe(response.writeHead(200, { "x-method": request.method ?? "" }));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await rm(directory, { recursive: true });
});

test("asks and answers as fetch does", async () => {
  const asked = fetchTrusting(certificate.pem);

  const echo = await asked(`${url}/echo`, { method: "POST", body: "hello" });
  const nothing = await asked(`${url}/nothing`, {});

  expect([echo.status, echo.headers.get("x-method"), await echo.text()]).toEqual([
    200,
    "POST",
    "hello",
  ]);
  expect([nothing.status, await nothing.text()]).toEqual([204, ""]);
});

test("an answer that breaks off fails whoever reads it", async () => {
  const response = await fetchTrusting(certificate.pem)(`${url}/broken`, {});

  await expect(response.text()).rejects.toThrow(/terminated|aborted/);
});

test("a call is given up when its signal says so, and who is not trusted is refused", async () => {
  const signal = AbortSignal.abort();

  await expect(fetchTrusting(certificate.pem)(url, { signal })).rejects.toThrow("abort");
  await expect(fetch(url)).rejects.toThrow("fetch failed");
});
