import { X509Certificate } from "node:crypto";
import { copyFile, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pino from "pino";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type TestCertificate, testCertificate } from "../../test/support/test-certificate.ts";
import { addressToGive } from "./address-to-give.ts";
import { certificateFiles, openCertificate, problemOfTime } from "./certificate.ts";

let directory: string;
let one: TestCertificate;
let other: TestCertificate;
const said: { level: string; msg: string }[] = [];
const logger = pino(
  { level: "debug" },
  { write: (line: string) => void said.push(JSON.parse(line)) },
);

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "grange-certificate-"));
  one = await testCertificate(directory, "one", "DNS:farm.example,DNS:*.example,IP:10.0.0.1");
  other = await testCertificate(directory, "other");
});
afterAll(() => rm(directory, { recursive: true, force: true }));

async function until(is: () => boolean): Promise<void> {
  while (!is()) await new Promise<void>((resolve) => setTimeout(resolve, 5));
}

test("a pair is taken as it stands", async () => {
  const certificate = await openCertificate(one, logger);

  expect(certificate.identity().cert).toBe(one.pem);
  expect(certificate.names).toEqual(["farm.example", "*.example"]);
  expect(certificate.covers("farm.example")).toBe(true);
  expect(certificate.covers("10.0.0.1")).toBe(true);
  expect(certificate.covers("127.0.0.1")).toBe(false);
  await certificate.stop();
});

test("a renewed pair is taken up, and a half-renewed one waited for", async () => {
  const files = { cert: join(directory, "live.crt"), key: join(directory, "live.key") };
  await copyFile(one.cert, files.cert);
  await copyFile(one.key, files.key);
  const certificate = await openCertificate(files, logger, 5);

  await copyFile(other.cert, `${files.cert}.new`);
  await rename(`${files.cert}.new`, files.cert);
  await until(() => said.some(({ msg }) => msg === "the old certificate stays"));
  expect(certificate.identity().cert).toBe(one.pem);

  await copyFile(other.key, `${files.key}.new`);
  await rename(`${files.key}.new`, files.key);
  await until(() => certificate.identity().cert === other.pem);
  expect(said.at(-1)?.msg).toBe("the certificate is renewed");
  await certificate.stop();
});

test("files that cannot be used are named, with what is wrong", async () => {
  const gone = join(directory, "gone");
  const junk = join(directory, "junk");
  await writeFile(junk, "-----BEGIN CERTIFICATE-----\nnonsense\n-----END CERTIFICATE-----\n");
  const problem = (cert: string, key: string) =>
    openCertificate({ cert, key }, logger).then(
      () => "it was taken",
      (reason: Error) => reason.message,
    );

  expect(await problem(gone, one.key)).toMatch(
    /certificate cannot be read: ENOENT.*GRANGE_TLS_CERT/,
  );
  expect(await problem(one.cert, gone)).toMatch(/key cannot be read: ENOENT.*GRANGE_TLS_KEY/);
  expect(await problem(junk, one.key)).toContain("junk holds no certificate in PEM");
  expect(await problem(one.cert, junk)).toContain("junk holds no private key in PEM");
  expect(await problem(one.cert, other.key)).toBe(
    `the key in ${other.key} does not belong to the certificate in ${one.cert}`,
  );
});

test("a certificate alone is refused, and a key alone", () => {
  expect(() => certificateFiles({ tlsCert: "a" })).toThrow("no key; name its file with --tls-key");
  expect(() => certificateFiles({ tlsKey: "a" })).toThrow(
    "no certificate; name its file with --tls-cert",
  );
  expect(certificateFiles({})).toBeUndefined();
});

test("a certificate that is over, or has not begun, is told of", () => {
  const x509 = new X509Certificate(one.pem);
  const day = 86_400_000;

  expect(problemOfTime(x509, new Date())).toBeUndefined();
  expect(problemOfTime(x509, new Date(Date.now() + 3 * day))).toContain("expired on");
  expect(problemOfTime(x509, new Date(Date.now() - day))).toContain("is not valid before");
});

test.each([
  ["127.0.0.1", undefined, "http://127.0.0.1:1"],
  ["0.0.0.0", undefined, "http://127.0.0.1:1"],
  ["::1", undefined, "http://[::1]:1"],
  ["127.0.0.1", ["127.0.0.1"], "https://127.0.0.1:1"],
  ["127.0.0.1", ["localhost", "farm.example"], "https://localhost:1"],
  ["127.0.0.1", ["farm.example"], "https://127.0.0.1:1"],
  ["0.0.0.0", ["*.example", "farm.example"], "https://farm.example:1"],
  ["0.0.0.0", ["*.example"], "https://127.0.0.1:1"],
  ["10.0.0.1", ["farm.example"], "https://farm.example:1"],
  ["::1", ["::1"], "https://[::1]:1"],
])("who listens on %s with a certificate for %j is at %s", (host, names, address) => {
  const covers = (name: string) => names?.includes(name.replace(/^\[|\]$/g, "")) ?? false;

  expect(addressToGive(host, 1, names && { names, covers })).toBe(address);
});
