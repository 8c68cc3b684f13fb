import { generateKeyPairSync } from "node:crypto";
import { expect, test } from "vitest";
import { fullConfig } from "./github-config.ts";

const rsa = generateKeyPairSync("rsa", { modulusLength: 2_048 }).privateKey;
const pkcs1 = rsa.export({ type: "pkcs1", format: "pem" }).toString();
const edwards = generateKeyPairSync("ed25519").privateKey.export({ type: "pkcs8", format: "pem" });

test.each([
  ["GitHub's own form", pkcs1],
  ["PKCS#8", rsa.export({ type: "pkcs8", format: "pem" }).toString()],
  ["line breaks as two characters", pkcs1.replaceAll("\n", "\\n")],
])("a key in %s is read", (_, privateKey) => {
  expect(fullConfig({ appId: "1", privateKey }).privateKey).toContain("BEGIN PRIVATE KEY");
});

test.each([
  [
    "a key cut off after its first line",
    { privateKey: "-----BEGIN RSA PRIVATE KEY-----" },
    "whole .pem",
  ],
  ["a key of another kind", { privateKey: edwards.toString() }, "not an RSA key"],
  ["an id that is a name", { appId: "my app" }, "not the id of a GitHub app"],
  ["an API that is not a URL", { api: "api.github.com" }, "not the URL of an API"],
  ["an API of another kind", { api: "file:///etc/passwd" }, "not the URL of an API"],
])("%s is refused in words", (_, wrong, expected) => {
  expect(() => fullConfig({ appId: "1", privateKey: pkcs1, ...wrong })).toThrow(expected);
});

test("an API address is accepted with or without a final slash", () => {
  expect(
    fullConfig({ appId: "1", privateKey: pkcs1, api: "https://ghe.example.org/api/v3/" }).api,
  ).toBe("https://ghe.example.org/api/v3");
});
